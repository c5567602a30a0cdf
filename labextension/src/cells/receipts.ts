/**
 * Below a question stands the receipt of its run, also where this page could not see its end.
 *
 * The kernel updates the output of a cell only for the page that has run it. A page that was loaded again meanwhile
 * keeps the last progress that was saved, for ever; and that cells were not inserted stays where they were later.
 * The metadata of such an output say of which run it is, and until when it holds.
 */
import type { IOutput } from '@jupyterlab/nbformat';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import type { KernelConnections } from '../comm/connections';
import type { HistoryClient } from '../history/client';
import { HistoryError } from '../history/client';
import { outputsOf, receiptOutput, setOutputs } from '../notebook/outputs';
import { isWritable, sharedNotebook } from '../notebook/panels';
import { META } from '../notebook/provenance';
import type { ISharedCell } from '../notebook/sharednotebook';
import { isForAgent } from '../prompts/magicline';
import type { IRun } from '../protocol/run';
import { isRunning } from '../protocol/run';

/** What the kernel itself updates comes a moment after the run's end. */
const LOOK_MS = 1000;
const NOT_THERE = 404;

/** Until when an output holds. */
interface IUntil {
  run_id: string;
  until: 'ended' | 'inserted';
}

export interface IReceiptsOptions {
  connections: KernelConnections;
  tracker: INotebookTracker;
  history: Pick<HistoryClient, 'get' | 'inserted'>;
}

export class Receipts {
  constructor(private readonly _options: IReceiptsOptions) {
    const { connections, tracker } = _options;
    const watch = (panel: NotebookPanel): void => {
      panel.context.ready.then(
        () => this._lookSoon(),
        () => undefined
      );
    };
    tracker.forEach(watch);
    tracker.widgetAdded.connect((_, panel) => watch(panel));
    connections.changed.connect(() => this._lookSoon());
    connections.added.connect((_, connection) => {
      connection.model.changed.connect(() => this._lookSoon());
    });
  }

  /** Two pages of a shared notebook would both write the receipt, if they looked at the same moment. */
  private _lookSoon(): void {
    this._timer ??= window.setTimeout(
      () => {
        this._timer = undefined;
        this._options.tracker.forEach(panel => void this._look(panel));
      },
      LOOK_MS * (1 + Math.random())
    );
  }

  private async _look(panel: NotebookPanel): Promise<void> {
    const cells = (!panel.isDisposed && isWritable(panel) && sharedNotebook(panel)?.cells) || [];
    for (const cell of cells.filter(one => isForAgent(one.getSource()))) {
      const held = untilOf(cell);
      const run = held && (await this._runOf(panel, held.run_id));
      if (!run || run.request.cell_id !== cell.id || !hasCome(held.until, run)) {
        continue;
      }
      if (isExecuting(panel, cell)) {
        this._lookSoon();
        continue;
      }
      const outputs = await this._finalOutputs(run, held);
      if (outputs && !panel.isDisposed && untilOf(cell)?.run_id === run.id) {
        const rest = outputsOf(cell).map(output => (heldBy(output) ? outputs : [output]));
        setOutputs(panel, cell, rest.flat());
      }
    }
  }

  /** From the kernel; of one that is gone, from the history, which is asked once. */
  private async _runOf(panel: NotebookPanel, runId: string): Promise<IRun | undefined> {
    const state = this._options.connections.of(panel)?.model.state;
    const known = state?.runs.find(run => run.id === runId);
    const asked = `${state?.link} ${runId}`;
    if (known || state?.link === 'connecting' || this._asked.has(asked)) {
      return known;
    }
    this._asked.add(asked);
    const run = await this._options.history.get(runId).catch(ignoreHistory);
    // A kernel that is gone inserts nothing any more.
    return run && { ...run, placed: run.placed === 'inserting' ? 'undelivered' : run.placed };
  }

  /** The receipt, and why there is no result; a progress without a record goes. */
  private async _finalOutputs(run: IRun, { until }: IUntil): Promise<IOutput[] | undefined> {
    try {
      const { receipt } = await this._options.history.inserted(run.id);
      const failed = run.status === 'failed' || run.status === 'interrupted';
      return [receiptOutput(receipt), ...(failed ? [errorOutput(run.error)] : [])];
    } catch (error) {
      ignoreHistory(error);
      return until === 'ended' && (error as HistoryError).status === NOT_THERE ? [] : undefined;
    }
  }

  private _timer: number | undefined;
  private _asked = new Set<string>();
}

function untilOf(cell: ISharedCell): IUntil | undefined {
  return outputsOf(cell).flatMap(output => heldBy(output) ?? [])[0];
}

function heldBy(output: IOutput): IUntil | undefined {
  const held = (output.metadata as Record<string, Partial<IUntil>> | undefined)?.[META];
  return typeof held?.run_id === 'string' && (held.until === 'ended' || held.until === 'inserted')
    ? (held as IUntil)
    : undefined;
}

function hasCome(until: IUntil['until'], run: IRun): boolean {
  if (isRunning(run) || run.placed === 'inserting') {
    return false; // its record is written once more
  }
  return until === 'ended' || run.placed !== 'undelivered';
}

/** Whether this page runs the cell, and gets what the kernel writes below it. */
function isExecuting(panel: NotebookPanel, cell: ISharedCell): boolean {
  const widget = panel.content.widgets.find(one => one.model.id === cell.id);
  return widget !== undefined && Reflect.get(widget.model, 'executionState') === 'running';
}

function errorOutput(text: string): IOutput {
  return { output_type: 'stream', name: 'stderr', text };
}

/** What the history does not have stays as it is; the History tab displays why it does not answer. */
function ignoreHistory(error: unknown): undefined {
  if (!(error instanceof HistoryError)) {
    throw error;
  }
  return undefined;
}
