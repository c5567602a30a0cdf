/** Which cells of a notebook belong together: those that one run inserted, as far as they are still adjacent. */
import { cellState } from './cellstates';
import type { IProvenance } from './provenance';
import { provenance } from './provenance';
import type { ISharedCell, ISharedNotebook } from './sharednotebook';

export interface IBlock {
  runId: string;
  /** From top to bottom. */
  cellIds: string[];
  roles: IProvenance['role'][];
}

/** Neighbours of the same run that wait for a decision, by the id of each cell. */
export function pendingBlocks(notebook: ISharedNotebook): Map<string, IBlock> {
  return blocks(notebook, cell => cellState(cell) === 'pending');
}

/** Neighbours of the same run, whatever was decided about them. */
export function resultBlocks(notebook: ISharedNotebook): Map<string, IBlock> {
  return blocks(notebook, () => true);
}

function blocks(notebook: ISharedNotebook, belongs: (cell: ISharedCell) => boolean): Map<string, IBlock> {
  const found = new Map<string, IBlock>();
  let above: IBlock | undefined;
  for (const cell of notebook.cells) {
    const origin = provenance(cell);
    if (!origin || !belongs(cell)) {
      above = undefined;
      continue;
    }
    const block: IBlock =
      above?.runId === origin.run_id ? above : { runId: origin.run_id, cellIds: [], roles: [] };
    block.cellIds.push(cell.id);
    block.roles.push(origin.role);
    found.set(cell.id, block);
    above = block;
  }
  return found;
}

export type BlockPosition = 'only' | 'head' | 'part';

export function positionIn(block: IBlock, cellId: string): BlockPosition {
  if (block.cellIds.length === 1) {
    return 'only';
  }
  return block.cellIds[0] === cellId ? 'head' : 'part';
}
