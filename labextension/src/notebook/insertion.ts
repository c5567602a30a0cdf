/** Insert the cells of a run into a notebook. */
import type { IInsertMessage } from '../protocol/messages';
import { isPending } from './cellstates';
import { indicesWhere, replaceCells } from './edits';
import { originOf, provenance } from './provenance';
import type { ISharedCell, ISharedNotebook } from './sharednotebook';
import { withNextVersion } from './versions';
import { refinedBy, replaceVersion } from './versionswitch';

/**
 * Insert the cells of a run below the anchor, and take out what is still pending of the earlier runs of the same
 * cell, as one undo step. Cells that are there already stay where and what they are. Nothing is executed, and nothing
 * done where the notebook has cells of a run in `unless` that were kept. The ids of the run's cells.
 */
export function insertCells(
  notebook: ISharedNotebook,
  request: Pick<IInsertMessage, 'anchor' | 'replace' | 'cells'> & Partial<Pick<IInsertMessage, 'unless'>>
): string[] {
  const isKeptVersion = (cell: ISharedCell): boolean =>
    request.unless?.includes(provenance(cell)?.run_id ?? '') === true && !isPending(cell);
  if (notebook.cells.some(isKeptVersion)) {
    return [];
  }
  const ids = request.cells.map(cell => String(cell.id));
  const present = new Set(notebook.cells.map(cell => cell.id));
  const fresh = request.cells.filter(cell => !present.has(String(cell.id)));
  if (fresh.length > 0) {
    const replaced = indicesWhere(notebook, cell => request.replace.some(runId => isPending(cell, runId)));
    const refined = refinedBy(notebook, fresh[0], request.replace);
    if (refined === null) {
      replaceCells(notebook, insertionIndex(notebook, request.anchor, ids), fresh, replaced);
    } else {
      const asked = notebook.cells.find(cell => cell.id === request.anchor);
      const versions = withNextVersion(refined, asked?.getSource() ?? '', originOf(fresh[0])!);
      const before = replaced.find(index => provenance(notebook.cells[index])!.run_id === refined.run_id);
      const at = before ?? insertionIndex(notebook, request.anchor, ids);
      replaceVersion(notebook, at, fresh, { versions, replaced, asked });
    }
  }
  return ids;
}

/** Below the last cell that is there already, else below the anchor, else the end. */
function insertionIndex(notebook: ISharedNotebook, anchor: string | null, ids: string[]): number {
  const position = (wanted: string[]): number =>
    notebook.cells.reduce((last, cell, i) => (wanted.includes(cell.id) ? i + 1 : last), -1);
  const below = [position(ids), position(anchor === null ? [] : [anchor])].find(index => index >= 0);
  return below ?? notebook.cells.length;
}
