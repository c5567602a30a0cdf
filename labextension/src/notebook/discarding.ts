/** Discard pending cells. */
import { isPending } from './cellstates';
import { deleteAt, indicesWhere, newCodeCell } from './edits';
import type { ISharedNotebook } from './sharednotebook';
import { oneUndoStep } from './undo';

/** Remove the pending cells of these runs as one undo step; the ids of those that went. */
export function discardRuns(notebook: ISharedNotebook, runIds: readonly string[]): string[] {
  return discardCells(
    notebook,
    notebook.cells.filter(cell => runIds.some(runId => isPending(cell, runId))).map(cell => cell.id)
  );
}

/** Remove those of these cells that are pending as one undo step; the ids of those that went. */
export function discardCells(notebook: ISharedNotebook, cellIds: readonly string[]): string[] {
  const gone = indicesWhere(notebook, cell => cellIds.includes(cell.id) && isPending(cell));
  const ids = gone.map(index => notebook.cells[index].id);
  const all = gone.length === notebook.cells.length;
  if (gone.length > 0) {
    oneUndoStep(notebook, () => {
      deleteAt(notebook, gone);
      if (all) {
        notebook.insertCells(0, [newCodeCell('')]); // a notebook without any cell cannot be used
      }
    });
  }
  return ids;
}
