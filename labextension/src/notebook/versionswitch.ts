/** Replace the pending version of a result by another one. */
import type { ICell } from '../protocol/messages';
import { isPending } from './cellstates';
import { indicesWhere, replaceCells } from './edits';
import type { IProvenance, IVersion } from './provenance';
import { originOf, provenance, withOrigin } from './provenance';
import type { ISharedCell, ISharedNotebook } from './sharednotebook';
import { versionIndex, versionsOf } from './versions';

/** Put the cells of another version where the pending one is, as one undo step. Nothing is executed. */
export function switchVersion(notebook: ISharedNotebook, runId: string, cells: ICell[]): void {
  const replaced = indicesWhere(notebook, cell => isPending(cell, runId));
  const [at] = replaced;
  if (at !== undefined) {
    const versions = versionsOf(provenance(notebook.cells[at])!);
    const pending = cells.map(cell => withOrigin(cell, { state: 'pending' }));
    replaceVersion(notebook, at, pending, { versions, replaced, asked: agentCellOf(notebook, at) });
  }
}

/** The version of which this cell is the next; null if there is none, or the user has kept that one meanwhile. */
export function refinedBy(
  notebook: ISharedNotebook,
  cell: ICell,
  replace: readonly string[]
): Pick<IProvenance, 'run_id' | 'versions'> | null {
  const run_id = originOf(cell)?.refines;
  if (run_id === undefined || !replace.includes(run_id)) {
    return null; // also where an old run is inserted again, anywhere
  }
  const there = notebook.cells.filter(one => provenance(one)?.run_id === run_id);
  return there.some(one => !isPending(one)) ? null : there.length > 0 ? provenance(there[0]) : { run_id };
}

/** The cell that asked for a pending one, as far as its text is still what was asked. */
export function agentCellOf(notebook: ISharedNotebook, index: number): ISharedCell | undefined {
  const displayed = provenance(notebook.cells[index])!;
  const source = versionsOf(displayed)[versionIndex(displayed)]?.question;
  return notebook.cells
    .slice(0, index)
    .reverse()
    .find(cell => source && cell.getSource() === source);
}

/** Replace a version's cells, and set the question to what it was then, where it may be changed. */
export function replaceVersion(
  notebook: ISharedNotebook,
  at: number,
  cells: ICell[],
  other: { versions: IVersion[]; replaced: number[]; asked?: ISharedCell }
): void {
  const { versions, replaced, asked } = other;
  const question = versions.find(version => version.run_id === originOf(cells[0])?.run_id)?.question;
  const isOther = asked && question && asked.getSource() !== question;
  const marked = cells.map(cell => withOrigin(cell, { versions }));
  replaceCells(notebook, at, marked, replaced, () => {
    if (isOther && asked.getMetadata('editable') !== false) {
      asked.setSource(question);
    }
  });
}
