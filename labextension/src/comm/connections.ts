/** One connection per kernel of the open notebooks, and which of them is the current notebook's. */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { KernelConnection } from './connection';
import type { Preferences } from './preferences';

export class KernelConnections {
  constructor(
    private readonly _tracker: INotebookTracker,
    private readonly _preferences?: Preferences,
    private readonly _findWebClient?: () => Promise<string>
  ) {}

  /** Called once, when everyone who listens is connected. */
  start(): void {
    this._tracker.forEach(panel => this._watch(panel));
    this._tracker.widgetAdded.connect((_, panel) => this._watch(panel));
    this._tracker.currentChanged.connect(() => this._changed.emit());
  }

  /** The current notebook, its kernel or a connection changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get added(): ISignal<this, KernelConnection> {
    return this._added;
  }

  get current(): KernelConnection | null {
    return this.of(this._tracker.currentWidget);
  }

  /** The connection of a notebook's kernel; None before it has one. */
  of(panel: NotebookPanel | null): KernelConnection | null {
    const kernel = panel?.sessionContext.session?.kernel;
    if (!kernel || kernel.isDisposed) {
      return null;
    }
    const known = this._byKernel.get(kernel.id);
    // JupyterLab closes the comms that come to the connection which handles them, unless they are registered there.
    if (known && !known.kernel.isDisposed && (known.kernel.handleComms || !kernel.handleComms)) {
      return known;
    }
    return this._connect(kernel);
  }

  private _watch(panel: NotebookPanel): void {
    const look = (): void => {
      this.of(panel)?.addNotebook(panel);
      this._changed.emit();
    };
    panel.sessionContext.kernelChanged.connect(look);
    panel.sessionContext.ready.then(look, look);
    panel.context.ready.then(look, look);
    panel.disposed.connect(() => this._changed.emit());
    look();
  }

  private _connect(kernel: KernelConnection['kernel']): KernelConnection {
    this._byKernel.get(kernel.id)?.dispose();
    const connection = new KernelConnection(kernel, this._tracker, this._preferences, this._findWebClient);
    this._byKernel.set(kernel.id, connection);
    kernel.disposed.connect(() => {
      connection.dispose();
      if (this._byKernel.get(kernel.id) === connection) {
        this._byKernel.delete(kernel.id);
      }
      this._tracker.forEach(panel => this.of(panel));
      this._changed.emit();
    });
    this._added.emit(connection);
    return connection;
  }

  private _byKernel = new Map<string, KernelConnection>();
  private _changed = new Signal<this, void>(this);
  private _added = new Signal<this, KernelConnection>(this);
}
