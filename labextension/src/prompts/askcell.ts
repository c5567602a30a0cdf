/** A question from the panel becomes a `%%agent` cell in the notebook: its text, its position, and what prevents it. */
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';

import { scrollCellsIntoView } from '../cells/scrolling';
import type { IAgentState } from '../comm/agentstate';
import { insertAsUndoStep, newCodeCell } from '../notebook/edits';
import { isWritable, sharedNotebook } from '../notebook/panels';
import { provenance } from '../notebook/provenance';
import type { ISharedNotebook } from '../notebook/sharednotebook';
import type { ApprovalPolicy, ICell, Privacy } from '../protocol/messages';
import { isRunning } from '../protocol/run';
import { isAgentCell, shellQuoted } from './magicline';

export const LOAD_MAGIC = '%load_ext jupyter_codeagent';

/** What is chosen for one question; what is left out is as the settings say. */
export interface IAskOptions {
  vars?: readonly string[];
  model?: string;
  approve?: ApprovalPolicy;
  privacy?: Privacy;
}

/**
 * The source of the cell. Options are on the line of the magic only, and the prompt is its body, as it
 * was typed: whatever a line of it begins with is text for the model.
 */
export function agentCell(prompt: string, options: IAskOptions = {}): string {
  const { vars = [], model = '', approve, privacy } = options;
  const words = [
    '%%agent',
    ...(vars.length > 0 ? ['--vars', shellQuoted(vars.join(','))] : []),
    ...(model ? ['--model', shellQuoted(model)] : []),
    ...(approve ? ['--approve', approve] : []),
    ...(privacy ? ['--privacy', privacy] : [])
  ];
  return `${words.join(' ')}\n${prompt}`;
}

/** The source of a cell that looks at a table. */
export function exploreCell(table: string): string {
  return `%agent explore ${shellQuoted(table)}`;
}

export type AskBlocker =
  'no-notebook' | 'read-only' | 'no-kernel' | 'dead' | 'connecting' | 'absent' | 'failed';

/** Why nothing can be asked now; null if it can. */
export function findBlocker(panel: NotebookPanel | null, state: IAgentState | null): AskBlocker | null {
  if (!panel?.content.model) {
    return 'no-notebook';
  }
  if (!isWritable(panel)) {
    return 'read-only';
  }
  const kernel = panel.sessionContext.session?.kernel;
  if (!kernel) {
    return 'no-kernel';
  }
  if (kernel.status === 'dead') {
    return 'dead';
  }
  const link = state?.link ?? 'connecting';
  return link === 'ready' ? null : link;
}

/** Whether a cell that is run now has to wait for another. */
export function isBusy(panel: NotebookPanel, state: IAgentState): boolean {
  return panel.sessionContext.session?.kernel?.status === 'busy' || state.runs.some(isRunning);
}

/**
 * Where a new question goes: below the active cell, and below the results that an earlier question has put there, so
 * that question and answer stay together.
 */
export function insertionIndexBelow(notebook: ISharedNotebook, activeIndex: number): number {
  let index = Math.min(activeIndex + 1, notebook.cells.length);
  while (index < notebook.cells.length && provenance(notebook.cells[index])) {
    index++;
  }
  return index;
}

export interface IInsertionPoint {
  /** The active cell. */
  cellId: string;
  isCode: boolean;
  /** Its first line; of a question that line of it which is no options. */
  line: string;
  /** Whether results of the agent are below it, so that a question goes below these. */
  hasResults: boolean;
}

/** Below what a new question goes; null: at the top of the notebook. */
export function insertionPoint(notebook: ISharedNotebook, activeIndex: number): IInsertionPoint | null {
  const cell = notebook.cells[Math.min(activeIndex, notebook.cells.length - 1)];
  if (!cell) {
    return null;
  }
  const lines = cell.getSource().split('\n');
  const words = isAgentCell(cell.getSource()) ? lines.slice(1) : lines;
  return {
    cellId: cell.id,
    isCode: cell.cell_type === 'code',
    line: (words.find(line => line.trim()) ?? lines[0]).trim(),
    hasResults: insertionIndexBelow(notebook, activeIndex) > activeIndex + 1
  };
}

/** Insert a code cell below the active one, as one undo step, and run it there. Its id. */
export async function insertAndRun(panel: NotebookPanel, source: string): Promise<string> {
  const cell = newCodeCell(source);
  insertBelowActive(panel, cell);
  await runCell(panel, String(cell.id));
  return String(cell.id);
}

/** As one undo step. */
export function insertBelowActive(panel: NotebookPanel, cell: ICell): void {
  const notebook = sharedNotebook(panel)!;
  insertAsUndoStep(notebook, insertionIndexBelow(notebook, panel.content.activeCellIndex), [cell]);
}

/** Run a cell as if the user had selected it. */
export async function runCell(panel: NotebookPanel, cellId: string): Promise<void> {
  const { content } = panel;
  const at = content.widgets.findIndex(cell => cell.model.id === cellId);
  content.deselectAll();
  content.activeCellIndex = at;
  void scrollCellsIntoView(content, [content.widgets[at]]);
  await NotebookActions.runCells(content, [content.widgets[at]], panel.sessionContext);
}
