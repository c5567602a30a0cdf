/** What a notebook holds of each run, and how that has changed. No DOM. */
import { provenance } from '../notebook/provenance';
import type { ISharedCell, ISharedNotebook } from '../notebook/sharednotebook';
import type { CellState } from '../protocol/messages';

/** Of the runs that have cells in a notebook. */
export type RunStates = ReadonlyMap<string, CellState>;

export interface ISnapshot {
  cells: ReadonlySet<ISharedCell>;
  states: RunStates;
}

export function snapshotOf(notebook: ISharedNotebook): ISnapshot {
  return { cells: new Set(notebook.cells), states: runStates(notebook) };
}

export function runStates(notebook: ISharedNotebook): RunStates {
  const cells = new Map<string, ISharedCell[]>();
  for (const cell of notebook.cells) {
    const runId = provenance(cell)?.run_id;
    if (runId !== undefined) {
      cells.set(runId, [...(cells.get(runId) ?? []), cell]);
    }
  }
  return new Map([...cells].map(([runId, own]) => [runId, stateOf(own)]));
}

/**
 * What is decided about a run as a whole: by its code cell, where there is none by the cells that are left. A text that is
 * another than its run brought decides nothing: it is marked as edited in the page where somebody types.
 */
function stateOf(cells: readonly ISharedCell[]): CellState {
  const states = cells.map(cell => provenance(cell)!.state);
  const code = cells.find(cell => provenance(cell)?.role === 'code');
  if (states.includes('edited')) {
    return 'edited';
  }
  return (code && provenance(code)!.state) ?? (states.includes('accepted') ? 'accepted' : 'pending');
}

/** Whether the notebook was read from its file again: then none of the cells that it had is left. */
export function isReloaded(before: ISnapshot, after: ISnapshot): boolean {
  return ![...after.cells].some(cell => before.cells.has(cell));
}

/** What was decided between two snapshots; pending cells that went were discarded, whoever took them out and how. */
export function decisionsBetween(before: RunStates, after: RunStates): [string, CellState][] {
  const decided = [...after].filter(([runId, state]) => before.get(runId) !== state);
  const gone = [...before].filter(([runId, state]) => state === 'pending' && !after.has(runId));
  return [...decided, ...gone.map(([runId]): [string, CellState] => [runId, 'discarded'])];
}

export function isEqual(before: RunStates, after: RunStates): boolean {
  return before.size === after.size && [...after].every(([runId, state]) => before.get(runId) === state);
}

export function isKept(state: CellState | undefined): state is 'accepted' | 'edited' {
  return state === 'accepted' || state === 'edited';
}
