/** Edits of a notebook's list of cells, each as one undo step. Nothing is executed. */
import { UUID } from '@lumino/coreutils';

import type { ICell } from '../protocol/messages';
import type { ISharedCell, ISharedNotebook } from './sharednotebook';
import { oneUndoStep } from './undo';

/** A code cell of the user's own: trusted, as JupyterLab's new cells are; one that is not costs the notebook its trust. */
export function newCodeCell(source: string): ICell {
  const metadata = { trusted: true };
  return { id: UUID.uuid4(), cell_type: 'code', source, metadata, outputs: [], execution_count: null };
}

/** Insert cells of the user's own: one step to undo, not merged with what was typed before or after. */
export function insertAsUndoStep(notebook: ISharedNotebook, index: number, cells: ICell[]): void {
  oneUndoStep(notebook, () => void notebook.insertCells(index, cells));
}

/** Insert cells at an index and delete those at others, as one undo step. */
export function replaceCells(
  notebook: ISharedNotebook,
  at: number,
  cells: ICell[],
  replaced: readonly number[],
  also: () => void = () => undefined
): void {
  oneUndoStep(notebook, () => {
    also();
    notebook.insertCells(at, cells);
    deleteAt(
      notebook,
      replaced.map(index => (index < at ? index : index + cells.length))
    );
  });
}

export function indicesWhere(notebook: ISharedNotebook, wanted: (cell: ISharedCell) => boolean): number[] {
  return notebook.cells.flatMap((cell, index) => (wanted(cell) ? [index] : []));
}

/** From the last to the first, so that those still to come keep their index. */
export function deleteAt(notebook: ISharedNotebook, indices: readonly number[]): void {
  [...indices].reverse().forEach(index => notebook.deleteCell(index));
}
