/** Cells that are run for a person who does not look at them at that moment: in a shared notebook others type, too. */
import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

/** Throws where there is none: JupyterLab would have one chosen first, and others may change the cell meanwhile. */
export function requireKernel(panel: NotebookPanel, trans: TranslationBundle): void {
  if (!panel.sessionContext.session?.kernel) {
    throw new Error(trans.__('the notebook has no kernel; start one first'));
  }
}

/** Run a cell if it still holds this text. Nothing comes between the look and the request to the kernel. */
export async function runIfUnchanged(
  panel: NotebookPanel,
  cell: Cell,
  source: string,
  trans: TranslationBundle
): Promise<void> {
  requireKernel(panel, trans);
  if (cell.model.sharedModel.getSource() !== source) {
    throw new Error(trans.__('the cell was changed before it could be run, so it was not run'));
  }
  await NotebookActions.runCells(panel.content, [cell], panel.sessionContext);
}
