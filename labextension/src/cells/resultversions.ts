/** Which version of a result is displayed: the others are a click away. */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { KernelConnections } from '../comm/connections';
import { attempt } from '../common/attempt';
import type { HistoryClient } from '../history/client';
import type { RecordSync } from '../history/recordsync';
import { isPending } from '../notebook/cellstates';
import { outputsOf, receiptOutput, setOutputs } from '../notebook/outputs';
import { panelsOfKernel, requireWritable, sharedNotebook } from '../notebook/panels';
import { provenance } from '../notebook/provenance';
import type { ISharedCell, ISharedNotebook } from '../notebook/sharednotebook';
import { versionIndex, versionsOf } from '../notebook/versions';
import { agentCellOf, switchVersion } from '../notebook/versionswitch';
import type { IRun } from '../protocol/run';
import type { CellDecisions } from './celldecisions';

export interface IResultVersionsOptions {
  connections: KernelConnections;
  tracker: INotebookTracker;
  decisions: CellDecisions;
  history: HistoryClient;
  /** Show two runs side by side. */
  compare: (left: string, right: string) => Promise<void>;
  /** Records which version is displayed. */
  sync: Pick<RecordSync, 'reportChanges'>;
  trans: TranslationBundle;
}

export class ResultVersions {
  constructor(private readonly _options: IResultVersionsOptions) {
    _options.connections.added.connect((_, connection) => {
      connection.inserted.connect((_, { panel, cellIds }) => this._arrived(panel, cellIds));
      connection.model.changed.connect((_, { runs }) => {
        for (const run of runs.filter(one => one.request.refines && one.status === 'ok')) {
          // The record is written once more when the cells are there; only then they are.
          if (this._recorded.get(run.id) !== run) {
            this._recorded.set(run.id, run);
            this._receiptOf(connection.kernel.id, run.id);
          }
        }
      });
    });
  }

  /** Show the earlier (-1) or later (1) version of this pending result instead. */
  async show(panel: NotebookPanel, runId: string, step: 1 | -1): Promise<void> {
    const notebook = sharedNotebook(panel);
    const displayed = displayedCode(notebook, runId);
    const version = displayed && neighbour(displayed, step);
    if (!notebook || !version) {
      return;
    }
    requireWritable(panel, this._options.trans);
    const { cells, receipt } = await this._options.history.inserted(version);
    switchVersion(notebook, runId, cells);
    this._options.sync.reportChanges(panel);
    this._showReceipt(panel, version, receipt);
    await this._takeFocus(panel, version);
  }

  /** Show this pending result beside the version before it; the first one beside the next. */
  async compare(panel: NotebookPanel, runId: string): Promise<void> {
    const displayed = displayedCode(sharedNotebook(panel), runId);
    const before = displayed && neighbour(displayed, -1);
    const after = displayed && neighbour(displayed, 1);
    if (before) {
      await this._options.compare(before, runId);
    } else if (after) {
      await this._options.compare(runId, after);
    }
  }

  /** By the kernel's order. */
  private _arrived(panel: NotebookPanel, cellIds: readonly string[]): void {
    const cell = sharedNotebook(panel)?.cells.find(one => cellIds.includes(one.id));
    const origin = cell && provenance(cell);
    if (origin && versionsOf(origin).length > 1) {
      const { trans } = this._options;
      void attempt(trans, trans.__('Show the refined result'), () => this._takeFocus(panel, origin.run_id));
    }
  }

  /** The receipt below the question of a refined result lists what was sent for it. */
  private _receiptOf(kernelId: string, runId: string): void {
    const { tracker, history, trans } = this._options;
    for (const panel of panelsOfKernel(tracker, kernelId)) {
      const notebook = sharedNotebook(panel);
      if (notebook?.cells.some(cell => isPending(cell, runId))) {
        void attempt(trans, trans.__('Show the refined result'), async () =>
          this._showReceipt(panel, runId, (await history.inserted(runId)).receipt)
        );
      }
    }
  }

  /** The keyboard goes to the new cells, if it was on those that went. */
  private async _takeFocus(panel: NotebookPanel, runId: string): Promise<void> {
    const cell = sharedNotebook(panel)?.cells.find(one => isPending(one, runId));
    if (cell && (document.activeElement === null || document.activeElement === document.body)) {
      panel.content.mode = 'command';
      await this._options.decisions.reveal(panel, cell.id);
      panel.content.activate();
    }
  }

  /** As the output of the question's cell. */
  private _showReceipt(panel: NotebookPanel, runId: string, receipt: Record<string, string>): void {
    const notebook = sharedNotebook(panel)!;
    const at = notebook.cells.findIndex(cell => isPending(cell, runId));
    const question = at < 0 ? undefined : agentCellOf(notebook, at);
    const outputs = outputsOf(question);
    if (outputs.length !== 1 || JSON.stringify(outputs[0].data) !== JSON.stringify(receipt)) {
      setOutputs(panel, question, [receiptOutput(receipt)]);
    }
  }

  /** Refined runs in their last known state. */
  private _recorded = new Map<string, IRun>();
}

function displayedCode(notebook: ISharedNotebook | null, runId: string): ISharedCell | undefined {
  return notebook?.cells.find(cell => isPending(cell, runId) && provenance(cell)?.role === 'code');
}

function neighbour(cell: ISharedCell, step: 1 | -1): string | undefined {
  const origin = provenance(cell)!;
  return versionsOf(origin)[versionIndex(origin) + step]?.run_id;
}
