/** Prompts that were started while another cell runs. */
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';

import type { IAgentState } from '../comm/agentstate';
import { currentRun } from '../comm/agentstate';
import { isRunning } from '../protocol/run';
import { isAgentCell } from './magicline';

/** How many `%%agent` cells wait for the kernel, behind the run under way. */
export function queuedPrompts(panel: NotebookPanel | null, state: IAgentState): number {
  const run = currentRun(state);
  if (!panel || !run || !isRunning(run)) {
    return 0;
  }
  return panel.content.widgets.filter(
    ({ model }) =>
      model.type === 'code' &&
      model.id !== run.request.cell_id &&
      (model as ICodeCellModel).executionState === 'running' &&
      isAgentCell(model.sharedModel.getSource())
  ).length;
}
