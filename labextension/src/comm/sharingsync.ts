/** What is hidden or always shared: kept in the metadata of a kernel's notebooks, and sent to the kernel. */
import type { NotebookPanel } from '@jupyterlab/notebook';

import { isWritable, sharedNotebook } from '../notebook/panels';
import { isEmpty, joinedSharing, readSharing, writeSharing } from '../notebook/sharingmetadata';
import type { ISharing } from '../protocol/messages';

/** The lists of one kernel. */
export class SharingSync {
  /** `panels`: the open notebooks of the kernel. */
  constructor(private readonly _panels: () => NotebookPanel[]) {}

  /** The lists of all notebooks, which count as sent from now on. */
  collectAll(): ISharing {
    const panels = this._panels();
    const loaded = panels.filter(panel => panel.context.isReady);
    panels.forEach(panel => this._sent.add(panel.context));
    return this._joined(loaded);
  }

  /** A notebook has come: what it hides now stays hidden, whoever takes it off the list before the kernel knows. */
  track(panel: NotebookPanel): void {
    if (panel.context.isReady && !this._tracked.has(panel.context)) {
      this._tracked.add(panel.context);
      this._lastKnown = this._joined([panel]);
    }
  }

  /** A notebook is open: send its lists, unless the kernel has them. `send`: whether they were sent. */
  sendLists(panel: NotebookPanel, send: (sharing: ISharing) => boolean): void {
    if (!panel.context.isReady || this._sent.has(panel.context)) {
      return;
    }
    const sharing = this._joined([panel]);
    if (isEmpty(sharing) || send(sharing)) {
      this._sent.add(panel.context);
    }
  }

  /** Write what holds in the kernel into its notebooks. */
  save(sharing: ISharing): void {
    this._lastKnown = sharing;
    Object.keys(sharing.shared)
      .filter(name => sharing.shared[name] === 'shared')
      .forEach(name => this._confirmed.add(name));
    for (const panel of this._panels()) {
      const notebook = sharedNotebook(panel);
      if (notebook && this._sent.has(panel.context) && isWritable(panel)) {
        writeSharing(notebook, sharing, this._confirmed);
      }
    }
  }

  /** `shared` only where a person has chosen so in this page. */
  private _joined(panels: readonly NotebookPanel[]): ISharing {
    const lists = panels.map(panel => readSharing(sharedNotebook(panel)));
    return joinedSharing([this._lastKnown, ...lists], this._confirmed);
  }

  /**
   * What was hidden last, as the kernel reported, else as the notebooks came. Anyone who edits the notebook can write its
   * lists; only what is switched in the kernel shows something again.
   */
  private _lastKnown: ISharing = { shared: {}, hidden_columns: {} };
  private _tracked = new WeakSet<object>();
  /** Notebooks whose lists the kernel has. */
  private _sent = new WeakSet<object>();
  /** Variables that the kernel has always copied while this page was open: a person has chosen so. */
  private _confirmed = new Set<string>();
}
