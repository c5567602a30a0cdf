/** States of the agent's cells in a notebook: which are pending, and how a decision marks them. */
import { sha256 } from '../common/sha256';
import type { CellState } from '../protocol/messages';
import type { IProvenance } from './provenance';
import { META, provenance } from './provenance';
import type { ISharedCell, ISharedNotebook } from './sharednotebook';

/** The state as written; a pending code cell whose text has changed since its insertion counts as edited. */
export function cellState(cell: ISharedCell): CellState | null {
  const found = provenance(cell);
  if (found?.state !== 'pending' || found.role !== 'code' || !found.code_sha256) {
    return found?.state ?? null;
  }
  return sha256(cell.getSource()) === found.code_sha256 ? 'pending' : 'edited';
}

export function isPending(cell: ISharedCell, runId?: string): boolean {
  return (runId === undefined || provenance(cell)?.run_id === runId) && cellState(cell) === 'pending';
}

/** Whether the user has kept a result of the agent. */
export function hasKept(notebook: ISharedNotebook): boolean {
  return notebook.cells.some(cell => ['accepted', 'edited'].includes(cellState(cell) ?? ''));
}

export interface IPendingRun {
  runId: string;
  model: string;
  /** Ids of its pending cells, from top to bottom. */
  cellIds: string[];
  /** Text of the first of them. */
  source: string;
  roles: IProvenance['role'][];
  /** Its result is probably wrong. */
  doubtful: boolean;
}

/** The runs that wait for a decision, in the order of the notebook. */
export function pendingRuns(notebook: ISharedNotebook): IPendingRun[] {
  const runs = new Map<string, IPendingRun>();
  for (const cell of notebook.cells) {
    const found = provenance(cell);
    if (found && isPending(cell)) {
      const run = runs.get(found.run_id) ?? {
        runId: found.run_id,
        model: found.model ?? '',
        cellIds: [],
        source: cell.getSource(),
        roles: [],
        doubtful: found.doubtful === true
      };
      run.cellIds.push(cell.id);
      run.roles.push(found.role);
      runs.set(found.run_id, run);
    }
  }
  return [...runs.values()];
}

/** Set the state of a run's pending cells; the ids of those that changed. Not an undo step: it is a decision. */
export function setRunState(notebook: ISharedNotebook, runId: string, state: CellState): string[] {
  return setCellStates(
    notebook.cells.filter(cell => isPending(cell, runId)),
    state
  );
}

export function setCellStates(cells: readonly ISharedCell[], state: CellState): string[] {
  for (const cell of cells) {
    const found = provenance(cell);
    if (found) {
      // What was decided about has no other versions any more.
      const { versions, ...rest } = found;
      cell.setMetadata(META, { ...rest, ...(state === 'pending' && versions ? { versions } : {}), state });
    }
  }
  return cells.map(cell => cell.id);
}
