/** Undo steps of a notebook. */
import type { ISharedNotebook } from './sharednotebook';

interface IUndoManager {
  stopCapturing(): void;
  readonly undoStack: readonly unknown[];
}

/** In `change`, `notebook.cells` is still what it was before: it follows when the transaction is over. */
export function oneUndoStep(notebook: ISharedNotebook, change: () => void): void {
  // Yjs merges changes that are less than 500 ms apart into one step: close its window before and after.
  undoManager(notebook)?.stopCapturing();
  notebook.transact(change);
  undoManager(notebook)?.stopCapturing();
}

/** Not in the interface, but in every notebook model there is. */
function undoManager(notebook: ISharedNotebook): IUndoManager | undefined {
  return (notebook as { undoManager?: IUndoManager }).undoManager;
}

export function topOfUndo(notebook: ISharedNotebook): unknown {
  const stack = undoManager(notebook)?.undoStack;
  return stack?.[stack.length - 1];
}
