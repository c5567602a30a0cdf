/** Undo the last insertion of a notebook. */
import { discardRuns } from './discarding';
import { provenance } from './provenance';
import type { ISharedNotebook } from './sharednotebook';
import { topOfUndo } from './undo';

/** Remembers the last insertion of a notebook, to undo just that. */
export class LastInsertion {
  remember(notebook: ISharedNotebook, cellIds: readonly string[]): void {
    this._seen.set(notebook, { cellIds, step: topOfUndo(notebook) });
  }

  /** Undo it as a step if nothing was changed since; else take out the cells that are still pending. */
  undo(notebook: ISharedNotebook): string[] {
    const last = this._seen.get(notebook);
    this._seen.delete(notebook);
    const runIds = new Set(
      notebook.cells
        .filter(cell => last?.cellIds.includes(cell.id))
        .flatMap(cell => provenance(cell)?.run_id ?? [])
    );
    if (!last || runIds.size === 0) {
      return [];
    }
    if (last.step !== undefined && last.step === topOfUndo(notebook)) {
      notebook.undo();
    } else {
      discardRuns(notebook, [...runIds]);
    }
    return [...runIds];
  }

  private _seen = new WeakMap<ISharedNotebook, { cellIds: readonly string[]; step: unknown }>();
}
