/** *Refine*: another version of a pending result, asked of the kernel without a new question in the notebook. */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { KernelMessage } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { KernelConnection } from '../comm/connection';
import type { KernelConnections } from '../comm/connections';
import { phaseLabel } from '../common/labels';
import { oneLine } from '../prompts/magicline';
import type { IRun } from '../protocol/run';
import { isRunning } from '../protocol/run';

export interface IRefinement {
  /** `queued`: the kernel has another cell to run first. */
  state: 'queued' | 'running' | 'stopping' | 'failed';
  /** What was asked. */
  text: string;
  /** What is going on, or why there is no other version. */
  message: string;
}

export interface IRefinementsOptions {
  connections: KernelConnections;
  trans: TranslationBundle;
}

export class Refinements {
  constructor(private readonly _options: IRefinementsOptions) {
    _options.connections.added.connect((_, connection) => this._watch(connection));
  }

  /** With the id of a run of which another version is asked for: that goes on, or has ended. */
  get changed(): ISignal<this, string> {
    return this._changed;
  }

  /** How it goes with the version that is asked for of this run; null if none is. */
  of(panel: NotebookPanel, runId: string): IRefinement | null {
    const { trans, connections } = this._options;
    const model = connections.of(panel)?.model;
    const asked = this._asked.get(runId) ?? null;
    const run = model?.state.runs.find(one => one.request.refines === runId && isRunning(one));
    if (!model || !run) {
      return asked;
    }
    const phase = model.state.progress[run.id]?.phase ?? 'context';
    const stopping = asked?.state === 'stopping';
    return {
      state: stopping ? 'stopping' : 'running',
      text: run.request.refinement ?? '',
      message: stopping ? asked.message : phaseLabel(trans, phase)
    };
  }

  /** Ask for another version; the result stays until it is there. Never rejects: what went wrong is its state. */
  async ask(panel: NotebookPanel, runId: string, text: string): Promise<void> {
    const { trans } = this._options;
    const line = oneLine(text).trim();
    const now = this.of(panel, runId);
    if (!line || (now && now.state !== 'failed')) {
      return;
    }
    this._set(runId, { state: 'queued', text: line, message: trans.__('Waiting for the kernel …') });
    const problem = await this._execute(panel, runId, line).catch((error: Error) => error.message);
    this._set(runId, problem ? { state: 'failed', text: line, message: problem } : null);
  }

  /** One that waits for the kernel does not begin: nothing is sent. */
  stop(panel: NotebookPanel, runId: string): void {
    const { trans, connections } = this._options;
    const now = this.of(panel, runId);
    const connection = connections.of(panel);
    if (now && connection) {
      this._set(runId, { ...now, state: 'stopping', message: trans.__('Stopping …') });
      const request = this._requests.get(runId);
      if (now.state === 'queued' && request) {
        connection.send({ type: 'stop', run_id: request });
      }
      this._stopStarted(connection);
    }
  }

  /** Why there is no other version; empty if there is one. */
  private async _execute(panel: NotebookPanel, runId: string, line: string): Promise<string> {
    const { trans } = this._options;
    const kernel = panel.sessionContext.session?.kernel;
    const run = this._runs(panel).find(known => known.id === runId);
    if (!kernel || !run) {
      return trans.__('The kernel no longer has this result; ask the question again.');
    }
    // A call, not the magic's line: IPython reads more into a line than it says, such as a question mark at its end.
    const code = `get_ipython().run_line_magic('agent', ${JSON.stringify(`refine ${runId} ${line}`)})`;
    const future = kernel.requestExecute(
      // What the user has queued behind it is not given up if it fails.
      { code, store_history: false, allow_stdin: false, stop_on_error: false },
      true,
      { cellId: run.request.cell_id }
    );
    this._requests.set(runId, future.msg.header.msg_id);
    return this._problemOf((await future.done).content);
  }

  private _problemOf(reply: KernelMessage.IExecuteReplyMsg['content']): string {
    const { trans } = this._options;
    if (reply.status === 'ok') {
      return '';
    }
    if (reply.status !== 'error') {
      return trans.__('Not asked: a cell that ran before it failed.');
    }
    return reply.ename === 'StoppedError'
      ? trans.__('Stopped; the result is unchanged.')
      : reply.evalue.split('\n')[0] || trans.__('The kernel reported only: %1', reply.ename);
  }

  private _runs(panel: NotebookPanel): readonly IRun[] {
    return this._options.connections.of(panel)?.model.state.runs ?? [];
  }

  private _watch(connection: KernelConnection): void {
    const { model } = connection;
    let before: readonly string[] = [];
    model.changed.connect(() => {
      this._stopStarted(connection);
      const refined = model.state.runs.filter(isRunning).flatMap(run => run.request.refines ?? []);
      new Set([...before, ...refined]).forEach(runId => this._changed.emit(runId));
      before = refined;
    });
    model.progressed.connect((_, id) => {
      const refines = model.state.runs.find(run => run.id === id)?.request.refines;
      if (refines) {
        this._changed.emit(refines);
      }
    });
  }

  private _stopStarted(connection: KernelConnection): void {
    for (const run of connection.model.state.runs.filter(isRunning)) {
      if (this._asked.get(run.request.refines ?? '')?.state === 'stopping' && !this._stopped.has(run.id)) {
        this._stopped.add(run.id);
        connection.send({ type: 'stop', run_id: run.id });
      }
    }
  }

  private _set(runId: string, refining: IRefinement | null): void {
    if (refining) {
      this._asked.set(runId, refining);
    } else {
      this._asked.delete(runId);
    }
    this._changed.emit(runId);
  }

  /** What this page has asked for, by the run that is refined. */
  private _asked = new Map<string, IRefinement>();
  /** Ids of the requests that were made for it. */
  private _requests = new Map<string, string>();
  /** Runs whose stop was sent. */
  private _stopped = new Set<string>();
  private _changed = new Signal<this, string>(this);
}
