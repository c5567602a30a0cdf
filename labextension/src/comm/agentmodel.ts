/** The state of the agent in one kernel, as the page knows it, with a signal for each change. The kernel has the truth. */
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { IContext, IProposal, IVariable, Shared, ToPage } from '../protocol/messages';
import type { IRun } from '../protocol/run';
import { isRunning } from '../protocol/run';
import type { IAgentState, IPull, LinkStatus } from './agentstate';
import { EMPTY_STATE, nextState, pullKey } from './agentstate';

/** A switch of the user's that the kernel has not confirmed yet. */
interface ISwitch {
  id: string;
  change: (context: IContext) => IContext;
}

export class AgentModel {
  get state(): IAgentState {
    return this._state;
  }

  /** Not emitted for progress, which comes many times a second and concerns few. */
  get changed(): ISignal<this, IAgentState> {
    return this._changed;
  }

  /** There is progress of the run with this id. */
  get progressed(): ISignal<this, string> {
    return this._progressed;
  }

  /** A decision has begun to wait. Not emitted again when the heartbeat repeats it. */
  get proposed(): ISignal<this, IProposal> {
    return this._proposed;
  }

  get runStarted(): ISignal<this, IRun> {
    return this._runStarted;
  }

  /** A run that was under way is over. */
  get runEnded(): ISignal<this, IRun> {
    return this._runEnded;
  }

  setLink(link: LinkStatus, problem = ''): void {
    // The state of a kernel that no longer has the agent is out of date.
    this._update({ ...(link === 'absent' ? EMPTY_STATE : this._state), link, problem });
  }

  /** The user's switch, displayed at once and until the kernel has confirmed the message with this id. */
  setShared(id: string, name: string, shared: Shared): void {
    this._applySwitch(id, name, variable => ({ ...variable, shared }));
  }

  /** The user's switches of columns, likewise. */
  setColumns(id: string, name: string, labels: readonly string[], hidden: boolean): void {
    const changed = <T extends { name: string; hidden: boolean }>(columns: readonly T[]): T[] =>
      columns.map(column => (labels.includes(column.name) ? { ...column, hidden } : column));
    const { found } = this._state;
    if (found?.name === name) {
      this._update({ ...this._state, found: { ...found, columns: changed(found.columns) } });
    }
    this._applySwitch(id, name, variable => ({ ...variable, columns: changed(variable.columns) }));
  }

  /** A variable has been asked for; the kernel answers once it is free. */
  setPulling(runId: string, name: string): void {
    const pull: IPull = { state: 'waiting', text: '' };
    this._update({ ...this._state, pulls: { ...this._state.pulls, [pullKey(runId, name)]: pull } });
  }

  /** A change is asked for: the refusal of the last one is out of date. */
  clearRefusal(): void {
    this._update({ ...this._state, refused: '' });
  }

  apply(message: ToPage): void {
    const before = this._state;
    if (message.type === 'progress') {
      this._state = nextState(before, message, Date.now());
      this._progressed.emit(message.run_id);
      return;
    }
    this._update(this._withPendingSwitches(nextState(before, message, Date.now()), message));
    const knownProposals = new Set(before.proposals.map(p => p.id));
    this._state.proposals.filter(p => !knownProposals.has(p.id)).forEach(p => this._proposed.emit(p));
    if (message.type === 'run' && isRunning(message.run) && !before.runs.some(r => r.id === message.run.id)) {
      this._runStarted.emit(message.run);
    }
    const wasRunning = new Set(before.runs.filter(isRunning).map(run => run.id));
    this._state.runs
      .filter(run => !isRunning(run) && wasRunning.has(run.id))
      .forEach(run => this._runEnded.emit(run));
  }

  private _applySwitch(id: string, name: string, change: (variable: IVariable) => IVariable): void {
    const made: ISwitch = {
      id,
      change: context => ({
        ...context,
        variables: context.variables.map(v => (v.name === name ? change(v) : v))
      })
    };
    this._unacknowledged = [...this._unacknowledged, made];
    this._update({ ...this._state, context: made.change(this._state.context) });
  }

  /** A context sent before the kernel received the user's last switches does not turn them back. */
  private _withPendingSwitches(state: IAgentState, message: ToPage): IAgentState {
    if (message.type === 'state') {
      this._unacknowledged = []; // a new connection: what was sent on the old one may be lost
    }
    if (message.type !== 'context') {
      return state;
    }
    const confirmed = this._unacknowledged.findIndex(one => one.id === message.heard);
    this._unacknowledged = this._unacknowledged.slice(confirmed + 1);
    return {
      ...state,
      context: this._unacknowledged.reduce((context, one) => one.change(context), state.context)
    };
  }

  private _update(state: IAgentState): void {
    if (state !== this._state) {
      this._state = state;
      this._changed.emit(state);
    }
  }

  private _state: IAgentState = EMPTY_STATE;
  /** Oldest first. */
  private _unacknowledged: readonly ISwitch[] = [];
  private _changed = new Signal<this, IAgentState>(this);
  private _proposed = new Signal<this, IProposal>(this);
  private _runStarted = new Signal<this, IRun>(this);
  private _runEnded = new Signal<this, IRun>(this);
  private _progressed = new Signal<this, string>(this);
}
