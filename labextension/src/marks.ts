/** How the agent's cells look in a notebook: bars on pending ones, prose for `%%agent` prompts. */
import type { Cell } from '@jupyterlab/cells';
import { CodeCell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import type { PanelLayout } from '@lumino/widgets';

import { CellBar } from './cellbar';
import type { CellDecisions } from './decisions';
import type { ISharedCell } from './notebook';
import { cellState, provenance } from './notebook';

const PENDING_CLASS = 'jp-CodeAgent-pending';
const PROMPT_CLASS = 'jp-CodeAgent-prompt';
const PROMPT = /^%%agent\b/;
/** Typing changes a cell at every key; looking at all cells that often would be felt. */
const REFRESH_MS = 60;

/** All open notebooks. */
export class Marks {
  constructor(tracker: INotebookTracker, decisions: CellDecisions, trans: TranslationBundle) {
    const watch = (panel: NotebookPanel): void => {
      const marks = new NotebookMarks(panel, decisions, trans);
      marks.changed.connect(() => this._changed.emit(panel));
      panel.disposed.connect(() => marks.dispose());
    };
    tracker.forEach(watch);
    tracker.widgetAdded.connect((_, panel) => watch(panel));
  }

  /** Cells of this notebook, or their states, changed. */
  get changed(): ISignal<this, NotebookPanel> {
    return this._changed;
  }

  private _changed = new Signal<this, NotebookPanel>(this);
}

/** One notebook. */
export class NotebookMarks implements IDisposable {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _decisions: CellDecisions,
    private readonly _trans: TranslationBundle
  ) {
    _panel.content.modelChanged.connect(this._onModel, this);
    this._onModel();
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._disposed;
  }

  dispose(): void {
    if (this._disposed) {
      return;
    }
    this._disposed = true;
    window.clearTimeout(this._timer);
    Signal.clearData(this);
  }

  private _onModel(): void {
    const model = this._panel.content.model;
    model?.cells.changed.connect(this._schedule, this);
    model?.metadataChanged.connect(this._schedule, this);
    this._schedule();
  }

  private _schedule(): void {
    if (!this._timer && !this._disposed) {
      this._timer = window.setTimeout(() => this._refresh(), REFRESH_MS);
    }
  }

  private _refresh(): void {
    this._timer = 0;
    if (this._disposed || this._panel.isDisposed) {
      return;
    }
    for (const cell of this._panel.content.widgets) {
      // Connecting the same slot again does nothing.
      cell.model.contentChanged.connect(this._schedule, this);
      cell.model.metadataChanged.connect(this._schedule, this);
      // The notebook sets the type anew when it learns of the kernel's language.
      cell.model.mimeTypeChanged.connect(this._schedule, this);
      this._markPending(cell);
      this._markPrompt(cell);
    }
    if (this._panel.content.model) {
      this._decisions.noticeRestored(this._panel);
    }
    this._changed.emit();
  }

  private _markPending(cell: Cell): void {
    const shared = cell.model.sharedModel as unknown as ISharedCell;
    if (provenance(shared)?.state === 'pending' && cellState(shared) === 'edited') {
      this._decisions.markEdited(this._panel, shared);
    }
    const pending = cellState(shared) === 'pending';
    if (pending !== cell.hasClass(PENDING_CLASS)) {
      cell.toggleClass(PENDING_CLASS, pending);
      // A cell out of sight has no content yet; it gets its bar when it is drawn.
      void cell.ready.then(() => this._toggleBar(cell));
    }
  }

  private _toggleBar(cell: Cell): void {
    const bar = this._bars.get(cell);
    const wanted = cell.hasClass(PENDING_CLASS) && !cell.isDisposed && !this._disposed;
    if (wanted === Boolean(bar)) {
      return;
    }
    if (bar) {
      bar.dispose();
      this._bars.delete(cell);
    } else {
      const fresh = this._newBar(cell);
      this._bars.set(cell, fresh);
      (cell.layout as PanelLayout).insertWidget(0, fresh);
    }
  }

  private _newBar(cell: Cell): CellBar {
    const panel = this._panel;
    const id = cell.model.id;
    const runId = provenance(cell.model.sharedModel as unknown as ISharedCell)!.run_id;
    return new CellBar(this._trans, {
      accept: () => this._decisions.accept(panel, runId),
      edit: () => void this._decisions.edit(panel, id),
      discard: () => this._decisions.discard(panel, [runId]),
      apply: cell instanceof CodeCell ? () => void this._decisions.apply(panel, id) : undefined
    });
  }

  private _markPrompt(cell: Cell): void {
    if (!(cell instanceof CodeCell)) {
      return;
    }
    const prompt = PROMPT.test(cell.model.sharedModel.getSource());
    if (prompt !== cell.hasClass(PROMPT_CLASS)) {
      cell.toggleClass(PROMPT_CLASS, prompt);
      cell.model.mimeType = prompt ? 'text/plain' : this._panel.content.codeMimetype;
    } else if (prompt && cell.model.mimeType !== 'text/plain') {
      cell.model.mimeType = 'text/plain';
    }
  }

  private _bars = new WeakMap<Cell, CellBar>();
  private _timer = 0;
  private _disposed = false;
  private _changed = new Signal<this, void>(this);
}
