/** What the user decides about inserted cells, on the cell, in the panel and by command; each is reported. */
import { Notification } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import { MarkdownCell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';

import { ApplyQuestion } from './applyquestion';
import { runState } from './celltools/blocks';
import type { KernelConnections } from './connections';
import { HistoryError, type HistoryClient } from './history';
import type { ISharedCell } from './notebook';
import {
  discardCells,
  insertCells,
  isPending,
  LastInsertion,
  markCells,
  pendingRuns,
  provenance,
  requireWritable,
  sharedNotebook,
  whyReadOnly
} from './notebook';
import type { CellState, ICell } from './protocol';
import { requireKernel } from './running';
import { scrollIntoView } from './scrolling';
import { cellStateWord } from './words';

export interface IDecisionsOptions {
  connections: KernelConnections;
  history: HistoryClient;
  trans: TranslationBundle;
  /** Bring a notebook to the front. */
  activate: (panel: NotebookPanel) => void;
}

export class CellDecisions {
  constructor(private readonly _options: IDecisionsOptions) {
    this._question = new ApplyQuestion(_options.connections, _options.history, _options.trans);
    _options.connections.added.connect((_, connection) => {
      connection.inserted.connect((_, { panel, cellIds }) => this._remember(panel, cellIds));
      connection.unrecorded.connect((_, { run_id, what, text }) => this._tellUnrecorded(run_id, what, text));
    });
  }

  /** All pending cells of a run. */
  accept(panel: NotebookPanel, runId: string): void {
    const cells = sharedNotebook(panel)?.cells.filter(cell => isPending(cell, runId)) ?? [];
    this.acceptCells(
      panel,
      cells.map(cell => cell.id)
    );
  }

  /** Those of these cells that are pending. */
  acceptCells(panel: NotebookPanel, cellIds: readonly string[]): void {
    const cells = sharedNotebook(panel)?.cells.filter(c => cellIds.includes(c.id) && isPending(c)) ?? [];
    if (cells.length > 0 && this._mayChange(panel)) {
      markCells(cells, 'accepted');
      this._reportRuns(panel, runsOf(cells));
    }
  }

  acceptAll(panel: NotebookPanel): void {
    this.acceptCells(
      panel,
      pendingRuns(sharedNotebook(panel)!).flatMap(run => run.cellIds)
    );
  }

  /** All pending cells of these runs, as one step to undo. */
  discard(panel: NotebookPanel, runIds: readonly string[]): void {
    const cells = sharedNotebook(panel)?.cells.filter(cell => runIds.some(run => isPending(cell, run))) ?? [];
    this.discardCells(
      panel,
      cells.map(cell => cell.id)
    );
  }

  /** Those of these cells that are pending, as one step to undo. */
  discardCells(panel: NotebookPanel, cellIds: readonly string[]): void {
    const notebook = sharedNotebook(panel);
    const runs = runsOf(notebook?.cells.filter(c => cellIds.includes(c.id) && isPending(c)) ?? []);
    const hadFocus = panel.content.node.contains(document.activeElement);
    if (notebook && runs.length > 0 && this._mayChange(panel)) {
      discardCells(notebook, cellIds);
      this._reportRuns(panel, runs);
      if (hadFocus) {
        // It went with the cell: without it the key that undoes this would reach nobody.
        panel.content.mode = 'command';
        panel.content.activate();
      }
    }
  }

  /** Undo brings discarded cells back; then they wait again. */
  noticeRestored(panel: NotebookPanel): void {
    for (const { runId } of pendingRuns(sharedNotebook(panel)!)) {
      if (this._discarded.delete(runId)) {
        this.report(panel, runId, 'pending');
      }
    }
  }

  discardAll(panel: NotebookPanel): void {
    this.discard(
      panel,
      pendingRuns(sharedNotebook(panel)!).map(run => run.runId)
    );
  }

  /** Put the cursor into the cell; from now on it is the user's own. */
  async edit(panel: NotebookPanel, cellId: string): Promise<void> {
    if (!this._mayChange(panel)) {
      return;
    }
    const cell = await this.reveal(panel, cellId);
    if (!cell) {
      return;
    }
    this.markEdited(panel, cell.model.sharedModel as unknown as ISharedCell);
    if (cell instanceof MarkdownCell) {
      cell.rendered = false;
    }
    panel.content.mode = 'edit';
    cell.editor?.focus();
  }

  markEdited(panel: NotebookPanel, cell: ISharedCell): void {
    const found = provenance(cell);
    if (found?.state === 'pending') {
      markCells([cell], 'edited');
      this.report(panel, found.run_id, 'edited');
    }
  }

  /** Run the cell, and only this one, in the live kernel, after a yes to exactly that. */
  async apply(panel: NotebookPanel, cellId: string): Promise<void> {
    const cell = findCell(panel, cellId);
    const shared = cell?.model.sharedModel as unknown as ISharedCell | undefined;
    const runId = shared && provenance(shared)?.run_id;
    if (!cell || !runId || this._applying.has(shared) || !this._mayChange(panel)) {
      return;
    }
    requireKernel(panel, this._options.trans);
    this._applying.add(shared);
    try {
      if (await this._question.mayRun(panel, cell)) {
        this._reportApplied(panel, runId, shared.getSource());
        this.accept(panel, runId);
        await NotebookActions.runCells(panel.content, [cell], panel.sessionContext);
      }
    } finally {
      this._applying.delete(shared);
    }
  }

  /** Scroll to a cell, however long the notebook is, and make it the active one. */
  async reveal(panel: NotebookPanel, cellId: string): Promise<Cell | null> {
    const index = panel.content.widgets.findIndex(cell => cell.model.id === cellId);
    if (index < 0) {
      return null;
    }
    this._options.activate(panel);
    panel.content.deselectAll();
    panel.content.activeCellIndex = index;
    const cell = panel.content.widgets[index];
    await scrollIntoView(panel.content, cell);
    return cell;
  }

  /** To the next pending cell after the active one (`step` 1) or the one before it (-1), around the end. */
  async revealPending(panel: NotebookPanel, step: 1 | -1): Promise<void> {
    const cells = sharedNotebook(panel)?.cells ?? [];
    const active = panel.content.activeCellIndex;
    for (let i = 1; i <= cells.length; i++) {
      const cell = cells[(active + step * i + cells.length * 2) % cells.length];
      if (isPending(cell)) {
        panel.content.mode = 'command';
        await this.reveal(panel, cell.id);
        panel.content.activate(); // the keys that decide act on the cell that has the focus
        return;
      }
    }
  }

  /** Insert the cells of an old run below the active cell, as one undo step. */
  async insertAgain(panel: NotebookPanel, cells: readonly ICell[]): Promise<void> {
    requireWritable(panel, this._options.trans);
    const notebook = sharedNotebook(panel);
    if (!notebook) {
      throw new Error('the notebook is not loaded yet');
    }
    const present = new Set(notebook.cells.map(cell => cell.id));
    const fresh = cells.map(cell =>
      present.has(String(cell.id)) ? { ...cell, id: `${String(cell.id)}-${UUID.uuid4().slice(0, 8)}` } : cell
    );
    const anchor = panel.content.activeCell?.model.id ?? null;
    this._remember(panel, insertCells(notebook, { anchor, replace: [], cells: fresh }));
    await this.reveal(panel, String(fresh[0]?.id));
  }

  undoInsertion(panel: NotebookPanel): void {
    const notebook = sharedNotebook(panel);
    if (!notebook) {
      return;
    }
    const undone = this._last.undo(notebook);
    undone.forEach(runId => this.report(panel, runId, 'discarded'));
    if (undone.length === 0) {
      Notification.info(this._options.trans.__('There is no insertion of the code agent left to undo.'));
    }
  }

  /** To the kernel; without a link to it, to the history itself. */
  report(panel: NotebookPanel, runId: string, state: CellState): void {
    const sent = this._options.connections.of(panel)?.send({ type: 'cell_state', run_id: runId, state });
    if (!sent) {
      this._options.history.setState(runId, state).catch((error: Error) => {
        // Cells of somebody else's notebook: no line of this history tells of them.
        if (!(error instanceof HistoryError && error.status === 404)) {
          this._tellUnrecorded(runId, state, error.message);
        }
      });
    }
  }

  /** What runs in the live kernel is on record, whether or not an agent listens there. */
  private _reportApplied(panel: NotebookPanel, runId: string, code: string): void {
    const sent = this._options.connections.of(panel)?.send({ type: 'applied', run_id: runId, code });
    if (!sent) {
      this._options.history
        .noteApplied(runId, code)
        .catch((error: Error) => this._tellUnrecorded(runId, 'applied', error.message));
    }
  }

  /** Runs of which something was decided; one whose code still waits is not decided yet. */
  private _reportRuns(panel: NotebookPanel, runIds: readonly string[]): void {
    for (const runId of runIds) {
      const state = runState(sharedNotebook(panel)!, runId);
      if (state === 'discarded') {
        this._discarded.add(runId);
      }
      if (state !== 'pending') {
        this.report(panel, runId, state);
      }
    }
  }

  /** The notebook has it, and the code has run: only the record lacks it, so whoever decided has to know. */
  private _tellUnrecorded(runId: string, what: CellState | 'applied', why: string): void {
    const { trans } = this._options;
    const done = cellStateWord(trans, what);
    Notification.error(trans.__('Not recorded in the history: “%1”, run %2. %3', done, runId, why), {
      autoClose: false
    });
  }

  /** If not, the user is told why. */
  private _mayChange(panel: NotebookPanel): boolean {
    const why = whyReadOnly(panel, this._options.trans);
    if (why) {
      Notification.error(why);
    }
    return why === '';
  }

  private _remember(panel: NotebookPanel, cellIds: readonly string[]): void {
    const notebook = sharedNotebook(panel);
    if (notebook) {
      this._last.remember(notebook, cellIds);
    }
  }

  private _last = new LastInsertion();
  private _discarded = new Set<string>();
  private readonly _question: ApplyQuestion;
  /** Cells about which it is asked, or which run after a yes: a second press is the same one. */
  private _applying = new WeakSet<object>();
}

function runsOf(cells: readonly ISharedCell[]): string[] {
  return [...new Set(cells.map(cell => provenance(cell)!.run_id))];
}

export function findCell(panel: NotebookPanel, cellId: string): Cell | undefined {
  return panel.content.widgets.find(cell => cell.model.id === cellId);
}
