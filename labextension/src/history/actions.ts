/** What can be done with a recorded run: its notebook opened, asked again, compared, deleted. */
import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';

import type { CellDecisions } from '../cells/celldecisions';
import { attempt } from '../common/attempt';
import { insertCells } from '../notebook/insertion';
import { requireWritable, sharedNotebook } from '../notebook/panels';
import { provenance } from '../notebook/provenance';
import type { ISharedNotebook } from '../notebook/sharednotebook';
import { cellToAskAgain } from '../prompts/askagain';
import { runIfUnchanged } from '../prompts/runcell';
import type { IRun } from '../protocol/run';
import type { HistoryClient } from './client';
import type { RunList } from './runlist';

/** The part of the front end that is needed here. */
export interface IFrontEnd {
  /** Open or reveal a document; rejects if there is none. */
  openDocument: (path: string) => Promise<unknown>;
  /** Show two runs side by side in the main area; false where the front end has no main area. */
  showComparison: (left: string, right: string) => boolean;
}

export interface IHistoryActionsOptions {
  trans: TranslationBundle;
  tracker: INotebookTracker;
  decisions: CellDecisions;
  history: HistoryClient;
  runs: RunList;
  frontEnd: IFrontEnd;
}

export class HistoryActions {
  constructor(private readonly _options: IHistoryActionsOptions) {}

  /** Rejects with what to read if there is no such notebook or cell any more. */
  async openAtCell(run: IRun): Promise<void> {
    const { trans, decisions } = this._options;
    const panel = this._openNotebookOf(run) ?? (await this._openByPath(run)) ?? null;
    const notebook = sharedNotebook(panel);
    if (!panel || !notebook) {
      return; // it opened somewhere else: in a tab of the browser
    }
    const cellId = cellOf(notebook, run);
    if (cellId === undefined) {
      throw new Error(trans.__('The notebook is open, but the cells of this run are no longer in it.'));
    }
    await decisions.reveal(panel, cellId);
  }

  /** Into the notebook, by default the current one, as pending cells unless they were accepted. */
  async insertAgain(
    run: { id: string; cellId: string | null },
    panel: NotebookPanel = this._current()
  ): Promise<void> {
    const { cells } = await this._options.history.inserted(run.id);
    await this._options.decisions.insertAgain(panel, cells, run.cellId);
  }

  /** Insert an `%%agent` cell below the answer to the original one, else below the active cell, and run it. */
  async askAgain(run: IRun, model: string, fresh: boolean): Promise<void> {
    const { decisions, trans } = this._options;
    const panel = this._openNotebookOf(run) ?? this._current();
    const notebook = sharedNotebook(panel)!;
    requireWritable(panel, trans);
    const original = notebook.cells.find(cell => cell.id === run.request.cell_id);
    const source = cellToAskAgain(run, model, { fresh, original: original?.getSource() });
    const id = UUID.uuid4();
    const empty = { cell_type: 'code', metadata: {}, outputs: [], execution_count: null };
    const anchor = original ? lastOfAnswer(notebook, original.id) : panel.content.activeCell?.model.id;
    insertCells(notebook, { anchor: anchor ?? null, replace: [], cells: [{ ...empty, id, source }] });
    const cell = await decisions.reveal(panel, id);
    if (cell) {
      // Not awaited: it is the answer of the model. Errors are displayed below the cell.
      void attempt(trans, trans.__('Ask another model'), () => runIfUnchanged(panel, cell, source, trans));
    }
  }

  async compare(left: string, right: string): Promise<void> {
    if (!this._options.frontEnd.showComparison(left, right)) {
      this._options.runs.view = { kind: 'compare', left, right };
    }
  }

  async export(runId: string, format: 'ipynb' | 'py'): Promise<void> {
    download(await this._options.history.export(runId, format), `codeagent-${runId}.${format}`);
  }

  /** Delete it after a confirmation; whether it is gone. */
  async deleteRun(run: IRun): Promise<boolean> {
    const { trans, history, runs } = this._options;
    const sure = await this._confirm(
      trans.__('Delete this run from the history?'),
      trans.__('“%1”', shortened(run.request.prompt)) +
        '\n\n' +
        trans.__('Its cells stay in your notebooks. The record of what was sent and run is lost.')
    );
    if (sure) {
      await history.delete(run.id);
      void runs.refresh();
    }
    return sure;
  }

  /** All runs of a notebook, or of all of them, after a confirmation that names the number; other filters do not count. */
  async deleteMany(notebook: string | undefined): Promise<void> {
    const { trans, history, runs } = this._options;
    const { total } = await history.list({ notebook, limit: 0 });
    const lost = trans.__(
      'Cells stay in your notebooks. The record of what was sent and run is lost. Runs in progress are kept.'
    );
    const asked = notebook
      ? trans._n('Delete the only run of this notebook?', 'Delete all %1 runs of this notebook?', total)
      : trans._n('Delete the only run of the history?', 'Delete all %1 runs of all notebooks?', total);
    if (await this._confirm(asked, notebook ? `${notebook}\n\n${lost}` : lost)) {
      await (notebook ? history.deleteNotebook(notebook) : history.deleteAll());
      await runs.refresh();
    }
  }

  private async _confirm(title: string, body: string): Promise<boolean> {
    const { trans } = this._options;
    const answer = await showDialog({
      title,
      body,
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.warnButton({ label: trans.__('Delete') })
      ],
      defaultButton: 0,
      focusNodeSelector: '.jp-mod-reject'
    });
    return answer.button.accept;
  }

  private _current(): NotebookPanel {
    const panel = this._options.tracker.currentWidget;
    if (!panel) {
      throw new Error(this._options.trans.__('Open a notebook first: the cells go below its active cell.'));
    }
    return panel;
  }

  /** By its cells, so that it is found under another name too. */
  private _openNotebookOf(run: IRun): NotebookPanel | undefined {
    return this._options.tracker.find(panel => {
      const notebook = sharedNotebook(panel);
      return notebook !== null && cellOf(notebook, run) !== undefined;
    });
  }

  private async _openByPath(run: IRun): Promise<NotebookPanel | undefined> {
    const { trans, tracker, frontEnd } = this._options;
    const path = run.request.notebook;
    if (!path) {
      throw new Error(trans.__('This run was not made in a notebook.'));
    }
    if (path.startsWith('/')) {
      throw new Error(trans.__('The notebook %1 is outside this server’s root directory.', path));
    }
    let opened: unknown;
    try {
      opened = await frontEnd.openDocument(path);
    } catch (error) {
      throw new Error(
        trans.__(
          '%1 cannot be opened (%2). Was it renamed, moved or deleted?',
          path,
          (error as Error).message
        )
      );
    }
    const panel = tracker.find(one => one === opened);
    await panel?.context.ready;
    await panel?.revealed;
    return panel;
  }
}

/** The cell that asked, else the first that the run brought. */
function cellOf(notebook: ISharedNotebook, run: IRun): string | undefined {
  const { cells } = notebook;
  return (
    cells.find(cell => cell.id === run.request.cell_id) ??
    cells.find(cell => provenance(cell)?.run_id === run.id)
  )?.id;
}

/** The last of the cells that runs put directly below this one; the cell itself if there is none. */
function lastOfAnswer(notebook: ISharedNotebook, cellId: string): string {
  let at = notebook.cells.findIndex(cell => cell.id === cellId);
  while (notebook.cells[at + 1] && provenance(notebook.cells[at + 1])) {
    at++;
  }
  return notebook.cells[at].id;
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function download(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
