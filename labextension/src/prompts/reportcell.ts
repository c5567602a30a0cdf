/** The cell that makes a report of the accepted results: run from the panel, and found while it runs. */
import type { CodeCell, ICodeCellModel } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';

import { scrollCellsIntoView } from '../cells/scrolling';
import { sharedNotebook } from '../notebook/panels';
import { insertAndRun } from './askcell';

export const REPORT_LINE = '%agent report';

function isReportCell(source: string): boolean {
  return /^%agent report\b/.test(source);
}

/** Save the notebook, of which the report is made, and run its cell for reports, or a new one. */
export async function saveAndReport(panel: NotebookPanel): Promise<void> {
  await panel.context.save();
  const at = sharedNotebook(panel)!.cells.findIndex(cell => isReportCell(cell.getSource()));
  if (at < 0) {
    await insertAndRun(panel, REPORT_LINE);
    return;
  }
  const cell = panel.content.widgets[at];
  void scrollCellsIntoView(panel.content, [cell]);
  await NotebookActions.runCells(panel.content, [cell], panel.sessionContext);
}

/**
 * The id of the request of a report that is made or waits for the kernel, by which it can be stopped: it is no run.
 * Empty in the moment before it has one; null if there is no such report.
 */
export function reportRequest(panel: NotebookPanel): string | null {
  const cell = panel.content.widgets.find(
    ({ model }) =>
      model.type === 'code' &&
      (model as ICodeCellModel).executionState === 'running' &&
      isReportCell(model.sharedModel.getSource())
  ) as CodeCell | undefined;
  // Of a cell that another page runs there is no future, though its type does not say so.
  const future = cell?.outputArea.future as CodeCell['outputArea']['future'] | undefined;
  return cell ? (future?.msg.header.msg_id ?? '') : null;
}
