/** The outputs of a cell in the shared model, which is there also while no widget shows them. */
import type { IOutput } from '@jupyterlab/nbformat';
import type { NotebookPanel } from '@jupyterlab/notebook';

import type { ISharedCell } from './sharednotebook';

/** A code cell. */
interface IWithOutputs extends ISharedCell {
  getOutputs?: () => IOutput[];
  setOutputs?: (outputs: IOutput[]) => void;
}

/** None where it cannot have any. */
export function outputsOf(cell: ISharedCell | undefined): IOutput[] {
  return (cell as IWithOutputs | undefined)?.getOutputs?.() ?? [];
}

/** Without a mark of a text that has not been run. */
export function setOutputs(panel: NotebookPanel, cell: ISharedCell | undefined, outputs: IOutput[]): void {
  (cell as IWithOutputs | undefined)?.setOutputs?.(outputs);
  const widget = panel.content.widgets.find(one => one.model.id === cell?.id);
  if (widget) {
    Reflect.set(widget.model, 'isDirty', false);
  }
}

/** What stands below a question when its run is over. */
export function receiptOutput(receipt: Record<string, string>): IOutput {
  return { output_type: 'display_data', data: receipt, metadata: {} };
}
