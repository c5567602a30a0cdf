/** What the agent can be asked about a cell: to repair it, to explain its result, another question from there. */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { KernelConnections } from '../comm/connections';
import { resultBlocks } from '../notebook/blocks';
import { newCodeCell } from '../notebook/edits';
import { insertCells } from '../notebook/insertion';
import { isWritable, sharedNotebook } from '../notebook/panels';
import { provenance } from '../notebook/provenance';
import { agentCell, insertAndRun } from '../prompts/askcell';
import { askFromSource, explainSource, fixSource } from '../prompts/followups';
import { escapeExpressions } from '../prompts/magicline';
import { runIfUnchanged } from '../prompts/runcell';
import type { IRun } from '../protocol/run';
import type { CellDecisions } from './celldecisions';

export interface ICellActionsOptions {
  connections: KernelConnections;
  decisions: CellDecisions;
  trans: TranslationBundle;
}

export class CellActions {
  constructor(private readonly _options: ICellActionsOptions) {
    const { connections } = _options;
    connections.changed.connect(() => this._changed.emit());
    connections.added.connect((_, connection) => {
      let before = '';
      connection.model.changed.connect((_, state) => {
        // A run under way reports many times a second.
        const runs = state.runs.map(run => [run.id, ...(run.next_questions ?? [])].join(' '));
        const now = [state.link, ...runs, ...(state.context.forgotten ?? [])].join(' ');
        if (now !== before) {
          before = now;
          this._changed.emit();
        }
      });
    });
  }

  /** What can be done with a cell may be another now. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The user's setting. */
  get showButtons(): boolean {
    return this._showButtons;
  }

  set showButtons(show: boolean) {
    this._showButtons = show;
    this._changed.emit();
  }

  /** Whether the agent is loaded in the notebook's kernel, and the notebook may be written to. */
  canAsk(panel: NotebookPanel): boolean {
    const state = this._options.connections.of(panel)?.model.state;
    return state?.link === 'ready' && isWritable(panel);
  }

  /** The question of a run, if this kernel knows it: only then does the model know what is spoken of. */
  question(panel: NotebookPanel, runId: string): string | undefined {
    return this._knownRun(panel, runId)?.request.prompt;
  }

  /** Whether a question can go on from this run: it has not left the conversation, as when its data was hidden. */
  canGoOn(panel: NotebookPanel, runId: string): boolean {
    const forgotten = this._options.connections.of(panel)?.model.state.context.forgotten ?? [];
    return this._knownRun(panel, runId) !== undefined && !forgotten.includes(runId);
  }

  /** What this kernel can answer next; one that was started since has no programs for it. */
  nextQuestions(panel: NotebookPanel, runId: string): readonly string[] {
    return this._knownRun(panel, runId)?.next_questions ?? [];
  }

  /** Ask it below the result's cells, or below the active cell where these are gone; asked again, the same cell runs. */
  async askNext(panel: NotebookPanel, runId: string, question: string): Promise<void> {
    const notebook = sharedNotebook(panel)!;
    const source = agentCell(escapeExpressions(question));
    const last = notebook.cells.filter(cell => provenance(cell)?.run_id === runId).pop();
    if (!last) {
      await insertAndRun(panel, source);
      return;
    }
    await this._runBelow(panel, last.id, source);
  }

  /** Ask for a repair below the failed cell; asked again, the same cell runs again. */
  async fix(panel: NotebookPanel, cellId: string): Promise<void> {
    const notebook = sharedNotebook(panel)!;
    const ids = notebook.cells.map(cell => cell.id);
    await this._runBelow(panel, cellId, fixSource(cellId, ids));
  }

  async explain(panel: NotebookPanel, cellId: string): Promise<void> {
    await this._askBelow(panel, cellId, async (last, question) => {
      const source = explainSource(question, this._options.trans);
      await this._run(panel, this._insert(panel, last, source), source);
    });
  }

  /** Open a question that goes on from this result, whatever came after it, with the cursor where it is written. */
  async askFrom(panel: NotebookPanel, cellId: string): Promise<void> {
    await this._askBelow(panel, cellId, async (last, _question, runId) => {
      const source = askFromSource(runId);
      const cell = await this._options.decisions.reveal(panel, this._insert(panel, last, source));
      panel.content.mode = 'edit';
      const editor = cell?.editor;
      editor?.focus();
      editor?.setCursorPosition(editor.getPositionAt(source.length)!);
    });
  }

  private _knownRun(panel: NotebookPanel, runId: string): IRun | undefined {
    const runs = this.canAsk(panel) ? this._options.connections.of(panel)!.model.state.runs : [];
    return runs.find(run => run.id === runId);
  }

  /** With the last cell of the run's block, the run's question and its id. */
  private async _askBelow(
    panel: NotebookPanel,
    cellId: string,
    act: (last: string, question: string, runId: string) => Promise<void>
  ): Promise<void> {
    const notebook = sharedNotebook(panel)!;
    const cell = notebook.cells.find(cell => cell.id === cellId);
    const runId = cell && provenance(cell)?.run_id;
    const question = runId && this.question(panel, runId);
    if (question) {
      const ids = resultBlocks(notebook).get(cellId)!.cellIds;
      await act(ids[ids.length - 1], question, runId);
    }
  }

  /** Run a cell of this source below the anchor: the one that is there already, else a new one. */
  private async _runBelow(panel: NotebookPanel, anchor: string, source: string): Promise<void> {
    const { cells } = sharedNotebook(panel)!;
    const next = cells[cells.findIndex(cell => cell.id === anchor) + 1];
    const asking = next?.getSource() === source ? next.id : this._insert(panel, anchor, source);
    await this._run(panel, asking, source);
  }

  private _insert(panel: NotebookPanel, anchor: string, source: string): string {
    const cell = newCodeCell(source);
    insertCells(sharedNotebook(panel)!, { anchor, replace: [], cells: [cell] });
    return String(cell.id);
  }

  private async _run(panel: NotebookPanel, cellId: string, source: string): Promise<void> {
    const cell = await this._options.decisions.reveal(panel, cellId);
    if (cell) {
      await runIfUnchanged(panel, cell, source, this._options.trans);
    }
  }

  private _showButtons = true;
  private _changed = new Signal<this, void>(this);
}
