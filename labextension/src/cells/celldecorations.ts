/** How the agent's cells look in a notebook: bars on pending ones, footers, badges. */
import type { Cell } from '@jupyterlab/cells';
import { CodeCell } from '@jupyterlab/cells';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import type { PanelLayout } from '@lumino/widgets';

import { attempt } from '../common/attempt';
import type { RecordSync } from '../history/recordsync';
import type { IBlock } from '../notebook/blocks';
import { pendingBlocks, positionIn, resultBlocks } from '../notebook/blocks';
import { cellState } from '../notebook/cellstates';
import { sharedNotebook } from '../notebook/panels';
import { provenance } from '../notebook/provenance';
import type { ISharedCell } from '../notebook/sharednotebook';
import type { IRun } from '../protocol/run';
import { versionIndex, versionsOf } from '../notebook/versions';
import type { ButtonBar } from './buttonbar';
import type { CellActions } from './cellactions';
import type { CellDecisions } from './celldecisions';
import { findCell } from './celldecisions';
import { CellFooters, kindOf } from './cellfooters';
import { NextQuestions } from './nextquestions';
import { OriginBadge } from './originbadge';
import type { ICellBarActions, IDisplayedVersion, Keys } from './pendingbar';
import { pendingBar, appearanceOf, singleCellButtons } from './pendingbar';
import { PromptCells } from './promptcells';
import { RefineBox } from './refinebox';
import type { Refinements } from './refinements';
import type { ResultVersions } from './resultversions';
import { VerdictLines } from './verdictlines';

/** On the notebook; the keys of the review are bound there only. */
const REVIEW_CLASS = 'jp-CodeAgent-review';
const PENDING_CLASS = 'jp-CodeAgent-pending';
const PART_CLASS = 'jp-CodeAgent-pendingPart';
/** Also of an answer whose code is decided: it alone has no other version. */
const ONE: IDisplayedVersion = { index: 0, count: 1 };
/** Typing changes a cell at every key. */
const REFRESH_MS = 60;

export interface ICellDecorationsOptions {
  decisions: CellDecisions;
  actions: CellActions;
  versions: ResultVersions;
  refinements: Refinements;
  /** Notified when cells may have changed. */
  sync: Pick<RecordSync, 'reportChanges'>;
  trans: TranslationBundle;
  /** The record of a run, from the kernel or else from the history. */
  readRun: (panel: NotebookPanel, runId: string) => Promise<IRun>;
  /** What to say of the keys of a command. */
  keys?: Keys;
  /** The page of a run, in the panel. */
  showRun: (runId: string) => void;
}

/** All open notebooks. */
export class CellDecorations {
  constructor(tracker: INotebookTracker, options: ICellDecorationsOptions) {
    const watch = (panel: NotebookPanel): void => {
      const decorations = new NotebookDecorations(panel, options);
      this._decorations.set(panel, decorations);
      decorations.changed.connect(() => this._changed.emit(panel));
      panel.disposed.connect(() => decorations.dispose());
    };
    tracker.forEach(watch);
    tracker.widgetAdded.connect((_, panel) => watch(panel));
  }

  /** Cells of this notebook, or their states, changed. */
  get changed(): ISignal<this, NotebookPanel> {
    return this._changed;
  }

  /** Put the keyboard into the line in which another version of this run's pending result is asked for. */
  async refine(panel: NotebookPanel, runId: string): Promise<void> {
    await this._decorations.get(panel)?.refine(runId);
  }

  private _decorations = new WeakMap<NotebookPanel, NotebookDecorations>();
  private _changed = new Signal<this, NotebookPanel>(this);
}

/** One notebook. */
export class NotebookDecorations implements IDisposable {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _options: ICellDecorationsOptions
  ) {
    this._footers = new CellFooters({
      panel: _panel,
      actions: _options.actions,
      trans: _options.trans,
      decisionButtons: cellId => singleCellButtons(_options.trans, this._decisionActions([cellId], cellId)),
      refineBox: runId => {
        const { refinements, trans, keys } = _options;
        return new RefineBox({ panel: _panel, runId, refinements, trans, keys: keys?.('refine') ?? '' });
      }
    });
    this._verdictLines = new VerdictLines({ panel: _panel, ..._options });
    this._nextQuestions = new NextQuestions({ panel: _panel, ..._options });
    this._originBadges = new OriginBadge(_options);
    this._promptCells = new PromptCells({ panel: _panel, trans: _options.trans });
    _panel.content.activeCellChanged.connect(this._promptCells.showAsking, this._promptCells);
    _options.actions.changed.connect(this._refreshAllSoon, this);
    _panel.content.modelChanged.connect(this._onModel, this);
    this._onModel();
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  async refine(runId: string): Promise<void> {
    const cell = this._panel.content.widgets.find(one => this._footers.refinedAt(one) === runId);
    // At once where that can be: what is typed next is for the box, and would be commands of the notebook.
    const isHere = this._panel.content.node.contains(document.activeElement);
    if (cell && !(isHere && this._footers.focusBox(cell))) {
      await this._options.decisions.reveal(this._panel, cell.model.id);
      await cell.ready;
      this._footers.focusBox(cell);
    }
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
    Signal.clearData(this._promptCells);
    Signal.clearData(this);
  }

  private _onModel(): void {
    const model = this._panel.content.model;
    model?.cells.changed.connect(this._refreshAllSoon, this);
    model?.metadataChanged.connect(this._refreshAllSoon, this);
    this._refreshAllSoon();
  }

  private _refreshAllSoon(): void {
    this._changedCells = 'all';
    this._schedule();
  }

  /** Typing and outputs come here: the text of one of the user's own cells does not concern the others. */
  private _refreshSoon(model: CodeEditor.IModel): void {
    if (this._changedCells !== 'all') {
      this._changedCells.add(model);
      this._schedule();
    }
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
    const changed = this._changedCells;
    this._changedCells = new Set();
    const ofUser = changed !== 'all' && [...changed].every(model => !provenance(sharedOf(model)));
    if (ofUser) {
      const canAsk = this._options.actions.canAsk(this._panel);
      [...changed].forEach(model => this._refreshUserCell(model, canAsk));
    } else {
      this._refreshAll();
    }
    if (this._panel.isVisible) {
      this._promptCells.showAsking();
    }
  }

  /** A cell that no run has put there. */
  private _refreshUserCell(model: CodeEditor.IModel, canAsk: boolean): void {
    const cell = this._cells.get(model);
    if (cell && !cell.isDisposed) {
      this._promptCells.update(cell);
      const kind = kindOf(cell, undefined, canAsk, () => false);
      this._footers.update(cell, { kind, isPart: false, refines: '' });
    }
  }

  private _refreshAll(): void {
    const notebook = sharedNotebook(this._panel);
    if (!notebook) {
      return;
    }
    const { actions, sync } = this._options;
    const pending = pendingBlocks(notebook);
    const results = resultBlocks(notebook);
    const canAsk = actions.canAsk(this._panel);
    const knows = (runId: string): boolean => actions.question(this._panel, runId) !== undefined;
    const canGoOn = (runId: string): boolean => actions.canGoOn(this._panel, runId);
    for (const cell of this._panel.content.widgets) {
      this._watch(cell);
      const block = pending.get(cell.model.id);
      const isPart = block !== undefined && positionIn(block, cell.model.id) === 'part';
      this._markPending(cell, block);
      this._promptCells.update(cell);
      this._originBadges.update(cell);
      const result = results.get(cell.model.id);
      const kind = kindOf(cell, result, canAsk, canGoOn);
      this._footers.update(cell, { kind, isPart, refines: this._refinedAt(cell, block, knows) });
      this._nextQuestions.update(cell, kindOf(cell, result, canAsk, knows) === 'result' ? result!.runId : '');
      this._verdictLines.update(cell, block && cell instanceof CodeCell ? block.runId : '');
    }
    this._panel.content.toggleClass(REVIEW_CLASS, pending.size > 0);
    sync.reportChanges(this._panel);
    this._changed.emit();
  }

  /** At the last cell; while the result waits the line stays, also when the kernel cannot be asked for a moment. */
  private _refinedAt(cell: Cell, block: IBlock | undefined, knows: (runId: string) => boolean): string {
    const isLast = block && block.cellIds[block.cellIds.length - 1] === cell.model.id;
    return isLast &&
      block.roles.includes('code') &&
      (knows(block.runId) || this._footers.refinedAt(cell) === block.runId)
      ? block.runId
      : '';
  }

  /** Connecting the same slot again does nothing. */
  private _watch(cell: Cell): void {
    this._cells.set(cell.model, cell);
    cell.model.contentChanged.connect(this._refreshSoon, this);
    cell.model.metadataChanged.connect(this._refreshAllSoon, this);
    // The notebook sets the type anew when it learns of the kernel's language.
    cell.model.mimeTypeChanged.connect(this._refreshSoon, this);
    const shared = sharedOf(cell.model);
    if (!this._observed.has(shared)) {
      this._observed.add(shared);
      shared.ysource.observe((_, change) => change.local && this._typed.add(shared));
    }
  }

  private _markPending(cell: Cell, block: IBlock | undefined): void {
    const shared = sharedOf(cell.model);
    // Who typed decides, in the page where it was typed. What a file or another page brings is nobody's decision.
    if (
      this._typed.has(shared) &&
      provenance(shared)?.state === 'pending' &&
      cellState(shared) === 'edited'
    ) {
      this._options.decisions.markEdited(this._panel, shared);
    }
    const position = block && positionIn(block, shared.id);
    const version = block?.roles.includes('code') ? versionOf(shared) : ONE;
    const look = block && position ? appearanceOf(block, position, version) : '';
    if (look !== (this._appearances.get(cell) ?? '')) {
      this._appearances.set(cell, look);
      cell.toggleClass(PENDING_CLASS, block !== undefined);
      cell.toggleClass(PART_CLASS, position === 'part');
      // A cell out of sight has no content yet; it gets its bar when it is drawn.
      const { trans } = this._options;
      void attempt(trans, trans.__('Show the buttons of a cell'), () =>
        cell.ready.then(() => this._drawBar(cell, look, block, version))
      );
    }
  }

  private _drawBar(cell: Cell, look: string, block: IBlock | undefined, version: IDisplayedVersion): void {
    if (cell.isDisposed || this._disposed || this._appearances.get(cell) !== look) {
      return; // another look came before the cell was drawn
    }
    this._bars.get(cell)?.dispose();
    this._bars.delete(cell);
    if (block && positionIn(block, cell.model.id) !== 'part') {
      const actions = this._decisionActions(block.cellIds, cell.model.id);
      const bar = pendingBar(this._options.trans, block, actions, this._options.keys, version);
      this._bars.set(cell, bar);
      (cell.layout as PanelLayout).insertWidget(0, bar);
    }
  }

  /** About these cells; *Edit* and *Accept & run* are about the one that has the buttons. */
  private _decisionActions(cellIds: readonly string[], cellId: string): ICellBarActions {
    const panel = this._panel;
    const { decisions, trans, versions } = this._options;
    const { run_id: runId } = provenance(sharedOf(findCell(panel, cellId)!.model))!;
    return {
      accept: () => decisions.acceptCells(panel, cellIds),
      edit: () => void attempt(trans, trans.__('Edit'), () => decisions.edit(panel, cellId)),
      discard: () => decisions.discardCells(panel, cellIds),
      apply:
        findCell(panel, cellId) instanceof CodeCell
          ? () => void attempt(trans, trans.__('Accept & run'), () => decisions.apply(panel, cellId))
          : undefined,
      showVersion: step =>
        void attempt(trans, trans.__('Show another version'), () => versions.show(panel, runId, step)),
      compareVersions: () => void attempt(trans, trans.__('Compare'), () => versions.compare(panel, runId))
    };
  }

  private readonly _footers: CellFooters;
  private readonly _verdictLines: VerdictLines;
  private readonly _nextQuestions: NextQuestions;
  private readonly _originBadges: OriginBadge;
  private readonly _promptCells: PromptCells;
  private _appearances = new WeakMap<Cell, string>();
  private _bars = new WeakMap<Cell, ButtonBar>();
  private _cells = new WeakMap<CodeEditor.IModel, Cell>();
  private _observed = new WeakSet<ISharedCell>();
  /** Cells whose text was changed in this page. */
  private _typed = new WeakSet<ISharedCell>();
  private _changedCells: Set<CodeEditor.IModel> | 'all' = 'all';
  private _timer = 0;
  private _disposed = false;
  private _changed = new Signal<this, void>(this);
}

function versionOf(cell: ISharedCell): IDisplayedVersion {
  const origin = provenance(cell);
  return origin ? { index: versionIndex(origin), count: versionsOf(origin).length } : ONE;
}

function sharedOf(model: CodeEditor.IModel): ISharedCell {
  return model.sharedModel as unknown as ISharedCell;
}
