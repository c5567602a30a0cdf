/** What the user decides about inserted cells, on the cell, in the panel and by command; each is reported. */
import { Notification } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import { MarkdownCell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';

import type { KernelConnections } from '../comm/connections';
import type { HistoryClient } from '../history/client';
import type { RecordSync } from '../history/recordsync';
import { isPending, pendingRuns, setCellStates } from '../notebook/cellstates';
import { discardCells } from '../notebook/discarding';
import { insertCells } from '../notebook/insertion';
import { LastInsertion } from '../notebook/lastinsertion';
import { requireWritable, sharedNotebook, whyReadOnly } from '../notebook/panels';
import { provenance } from '../notebook/provenance';
import type { ISharedCell } from '../notebook/sharednotebook';
import { requireKernel } from '../prompts/runcell';
import type { ICell } from '../protocol/messages';
import { ApplyConfirmation } from './applyconfirmation';
import { scrollToCell } from './scrolling';

export interface IDecisionsOptions {
  connections: KernelConnections;
  history: HistoryClient;
  sync: RecordSync;
  trans: TranslationBundle;
  /** Bring a notebook to the front. */
  activate: (panel: NotebookPanel) => void;
}

export class CellDecisions {
  constructor(private readonly _options: IDecisionsOptions) {
    this._confirmation = new ApplyConfirmation(_options.connections, _options.history, _options.trans);
    _options.connections.added.connect((_, connection) => {
      connection.inserted.connect((_, { panel, cellIds }) => this._rememberInsertion(panel, cellIds));
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
    if (cells.length > 0 && this._checkWritable(panel)) {
      setCellStates(cells, 'accepted');
      this._options.sync.reportChanges(panel);
    }
  }

  /** Doubtful results are left: each is decided by itself. */
  acceptAll(panel: NotebookPanel): void {
    const runs = pendingRuns(sharedNotebook(panel)!);
    this.acceptCells(
      panel,
      runs.filter(run => !run.doubtful).flatMap(run => run.cellIds)
    );
    const left = runs.filter(run => run.doubtful).length;
    if (left > 0) {
      const { trans } = this._options;
      Notification.info(
        trans._n(
          'One doubtful result is still pending: decide on it separately.',
          '%1 doubtful results are still pending: decide on each separately.',
          left
        ),
        { autoClose: 10_000 }
      );
    }
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
    const first = notebook?.cells.findIndex(cell => cellIds.includes(cell.id) && isPending(cell)) ?? -1;
    const hadFocus = panel.content.node.contains(document.activeElement);
    const active = panel.content.activeCell?.model.id ?? '';
    if (notebook && first >= 0 && this._checkWritable(panel)) {
      discardCells(notebook, cellIds);
      if (cellIds.includes(active)) {
        // As JupyterLab does: the cell that has come to its place, not the one above.
        panel.content.activeCellIndex = Math.min(first, notebook.cells.length - 1);
      }
      this._options.sync.reportChanges(panel);
      if (hadFocus) {
        // It went with the cell: without it the key that undoes this would reach nobody.
        panel.content.mode = 'command';
        panel.content.activate();
      }
    }
  }

  /** A result whose cells are not there: it is not offered any more. */
  discardMissing(panel: NotebookPanel, runId: string): void {
    this._options.sync.report(panel, runId, 'discarded');
  }

  discardAll(panel: NotebookPanel): void {
    this.discard(
      panel,
      pendingRuns(sharedNotebook(panel)!).map(run => run.runId)
    );
  }

  /** Put the cursor into the cell; from now on it is the user's own. */
  async edit(panel: NotebookPanel, cellId: string): Promise<void> {
    if (!this._checkWritable(panel)) {
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
      setCellStates([cell], 'edited');
      this._options.sync.reportChanges(panel);
    }
  }

  /** Run the cell, and only this one, in the live kernel, after a confirmation of exactly that. */
  async apply(panel: NotebookPanel, cellId: string): Promise<void> {
    const cell = findCell(panel, cellId);
    const shared = cell?.model.sharedModel as unknown as ISharedCell | undefined;
    const runId = shared && provenance(shared)?.run_id;
    if (!cell || !runId || this._applying.has(shared) || !this._checkWritable(panel)) {
      return;
    }
    requireKernel(panel, this._options.trans);
    this._applying.add(shared);
    try {
      if (await this._confirmation.confirm(panel, cell)) {
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
    await scrollToCell(panel.content, cell);
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

  /** Insert the cells of an old run below the one that asked, else below the active one, as one undo step. */
  async insertAgain(panel: NotebookPanel, cells: readonly ICell[], askedBy: string | null): Promise<void> {
    requireWritable(panel, this._options.trans);
    const notebook = sharedNotebook(panel);
    if (!notebook) {
      throw new Error('the notebook is not loaded yet');
    }
    const present = new Set(notebook.cells.map(cell => cell.id));
    const fresh = cells.map(cell =>
      present.has(String(cell.id)) ? { ...cell, id: `${String(cell.id)}-${UUID.uuid4().slice(0, 8)}` } : cell
    );
    const anchor = askedBy !== null && present.has(askedBy) ? askedBy : panel.content.activeCell?.model.id;
    const cellIds = insertCells(notebook, { anchor: anchor ?? null, replace: [], cells: fresh });
    this._rememberInsertion(panel, cellIds);
    this._options.sync.reportReinserted(panel, cellIds);
    await this.reveal(panel, String(fresh[0]?.id));
  }

  undoInsertion(panel: NotebookPanel): void {
    const notebook = sharedNotebook(panel);
    if (!notebook) {
      return;
    }
    const undone = this._lastInsertion.undo(notebook);
    undone.forEach(runId => this._options.sync.report(panel, runId, 'discarded'));
    this._options.sync.markReported(panel, undone);
    if (undone.length === 0) {
      Notification.info(this._options.trans.__('The code agent has no insertion left to undo.'));
    }
  }

  /** What runs in the live kernel is on record, whether or not an agent listens there. */
  private _reportApplied(panel: NotebookPanel, runId: string, code: string): void {
    const sent = this._options.connections.of(panel)?.send({ type: 'applied', run_id: runId, code });
    if (!sent) {
      this._options.history
        .noteApplied(runId, code)
        .catch((error: Error) => this._options.sync.notifyUnrecorded(runId, 'applied', error.message));
    }
  }

  /** If not, a notification gives the reason. */
  private _checkWritable(panel: NotebookPanel): boolean {
    const why = whyReadOnly(panel, this._options.trans);
    if (why) {
      Notification.error(why);
    }
    return why === '';
  }

  private _rememberInsertion(panel: NotebookPanel, cellIds: readonly string[]): void {
    const notebook = sharedNotebook(panel);
    if (notebook) {
      this._lastInsertion.remember(notebook, cellIds);
    }
  }

  private _lastInsertion = new LastInsertion();
  private readonly _confirmation: ApplyConfirmation;
  /** Cells that wait for a confirmation, or run after one: a second press is the same one. */
  private _applying = new WeakSet<object>();
}

export function findCell(panel: NotebookPanel, cellId: string): Cell | undefined {
  return panel.content.widgets.find(cell => cell.model.id === cellId);
}
