/** What the user decides about inserted cells, on the cell, in the panel and by command; each is reported. */
import { Dialog, showDialog, Notification } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import { MarkdownCell } from '@jupyterlab/cells';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';

import type { KernelConnections } from './connections';
import type { HistoryClient } from './history';
import type { ISharedCell } from './notebook';
import {
  discardRuns,
  insertCells,
  isPending,
  LastInsertion,
  markCells,
  markRun,
  pendingRuns,
  provenance,
  requireWritable,
  sharedNotebook
} from './notebook';
import type { CellState, ICell } from './protocol';

export interface IDecisionsOptions {
  connections: KernelConnections;
  history: HistoryClient;
  trans: TranslationBundle;
  /** Bring a notebook to the front. */
  activate: (panel: NotebookPanel) => void;
}

export class CellDecisions {
  constructor(private readonly _options: IDecisionsOptions) {
    _options.connections.added.connect((_, connection) => {
      connection.inserted.connect((_, { panel, cellIds }) => this._remember(panel, cellIds));
    });
  }

  accept(panel: NotebookPanel, runId: string): void {
    const notebook = sharedNotebook(panel);
    if (notebook && markRun(notebook, runId, 'accepted').length > 0) {
      // An edited cell of the run stays edited, and so does the run.
      const edited = notebook.cells.some(
        cell => provenance(cell)?.run_id === runId && provenance(cell)?.state === 'edited'
      );
      this.report(panel, runId, edited ? 'edited' : 'accepted');
    }
  }

  acceptAll(panel: NotebookPanel): void {
    pendingRuns(sharedNotebook(panel)!).forEach(run => this.accept(panel, run.runId));
  }

  discard(panel: NotebookPanel, runIds: readonly string[]): void {
    const notebook = sharedNotebook(panel);
    if (notebook && discardRuns(notebook, runIds).length > 0) {
      runIds.forEach(runId => {
        this._discarded.add(runId);
        this.report(panel, runId, 'discarded');
      });
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
    const runId = cell && provenance(cell.model.sharedModel as unknown as ISharedCell)?.run_id;
    if (!cell || !runId || !(await this._mayRunInKernel(panel, cell.model.sharedModel.getSource()))) {
      return;
    }
    this.accept(panel, runId);
    await NotebookActions.runCells(panel.content, [cell], panel.sessionContext);
  }

  /** Scroll to a cell and make it the active one. */
  async reveal(panel: NotebookPanel, cellId: string): Promise<Cell | null> {
    const index = panel.content.widgets.findIndex(cell => cell.model.id === cellId);
    if (index < 0) {
      return null;
    }
    this._options.activate(panel);
    panel.content.deselectAll();
    panel.content.activeCellIndex = index;
    const cell = panel.content.widgets[index];
    await panel.content.scrollToItem(index, 'smart');
    await cell.ready;
    return cell;
  }

  /** To the next pending cell after the active one (`step` 1) or the one before it (-1), around the end. */
  async revealPending(panel: NotebookPanel, step: 1 | -1): Promise<void> {
    const cells = sharedNotebook(panel)?.cells ?? [];
    const active = panel.content.activeCellIndex;
    for (let i = 1; i <= cells.length; i++) {
      const cell = cells[(active + step * i + cells.length * 2) % cells.length];
      if (isPending(cell)) {
        await this.reveal(panel, cell.id);
        return;
      }
    }
  }

  /** Insert the cells of an old run below the active cell, as one undo step. */
  async insertAgain(panel: NotebookPanel, cells: readonly ICell[]): Promise<void> {
    requireWritable(panel);
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
        // The notebook itself has the state; only the list of runs will show an older one.
        console.warn('jupyter-codeagent: the decision is not in the history:', error.message);
      });
    }
  }

  private _remember(panel: NotebookPanel, cellIds: readonly string[]): void {
    const notebook = sharedNotebook(panel);
    if (notebook) {
      this._last.remember(notebook, cellIds);
    }
  }

  private async _mayRunInKernel(panel: NotebookPanel, code: string): Promise<boolean> {
    if (this._granted.has(panel.context)) {
      return true;
    }
    const { trans } = this._options;
    const kernel = panel.sessionContext.kernelDisplayName;
    const answer = await showDialog({
      title: trans.__('Run this code in YOUR kernel?'),
      body: codeBody(
        trans.__(
          'So far it ran in the sandbox, on copies. Now it would run in your own kernel (%1), on your own ' +
            'variables and files, with all your rights.',
          kernel
        ),
        code
      ),
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.warnButton({ label: trans.__('Run in my kernel') })
      ],
      defaultButton: 0,
      focusNodeSelector: '.jp-mod-reject',
      checkbox: {
        label: trans.__('Do not ask again in this notebook until I reload the page'),
        checked: false
      }
    });
    if (answer.button.accept && answer.isChecked) {
      this._granted.add(panel.context);
    }
    return answer.button.accept;
  }

  private _last = new LastInsertion();
  private _discarded = new Set<string>();
  private _granted = new WeakSet<DocumentRegistry.Context>();
}

export function findCell(panel: NotebookPanel, cellId: string): Cell | undefined {
  return panel.content.widgets.find(cell => cell.model.id === cellId);
}

function codeBody(text: string, code: string): Widget {
  const body = new Widget();
  body.addClass('jp-CodeAgent-dialog');
  const paragraph = document.createElement('p');
  paragraph.textContent = text;
  const pre = document.createElement('pre');
  pre.textContent = code;
  pre.tabIndex = 0;
  body.node.append(paragraph, pre);
  return body;
}
