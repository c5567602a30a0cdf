/** What the page knows of the agent in one kernel: immutable snapshots and one signal. The truth is in the kernel. */
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type {
  ApprovalPolicy,
  IColumnsMessage,
  IContext,
  IGrant,
  IModelsMessage,
  IProgressMessage,
  IProposal,
  ISandbox,
  ISettings,
  IVariable,
  Shared,
  ToPage
} from '../protocol/messages';
import { assertNever } from '../protocol/messages';
import type { IRun } from '../protocol/run';
import { isRunning } from '../protocol/run';
import type { IProgress } from './progress';
import { extended } from './progress';

/** `absent`: the kernel has not loaded the extension. */
export type LinkStatus = 'connecting' | 'ready' | 'absent' | 'failed';

/** As many as the kernel keeps for its pages; the history has them all. */
const MAX_RUNS = 50;

export interface IPull {
  state: 'waiting' | 'done' | 'failed';
  /** What it is now in the kernel, or why it is not. */
  text: string;
}

export function pullKey(runId: string, name: string): string {
  return `${runId} ${name}`;
}

export interface IAgentState {
  link: LinkStatus;
  /** Why the link failed; empty otherwise. */
  problem: string;
  model: string;
  approve: ApprovalPolicy;
  settings: ISettings;
  /** What could be asked; null before it was looked for. */
  models: IModelsMessage | null;
  /** Why the last change of a setting was not made; empty if it was. */
  refused: string;
  sandbox: ISandbox | null;
  context: IContext;
  /** The answer to the last search for columns. */
  found: IColumnsMessage | null;
  /** What was asked to be brought back, by `pullKey`. */
  pulls: Readonly<Record<string, IPull>>;
  /** Oldest first. */
  runs: readonly IRun[];
  /** Of the runs that are under way, by run id. */
  progress: Readonly<Record<string, IProgress>>;
  proposals: readonly IProposal[];
  /** What the user has allowed until it is taken back. */
  grants: readonly IGrant[];
}

export const EMPTY_STATE: IAgentState = {
  link: 'connecting',
  problem: '',
  model: '',
  approve: 'review',
  settings: { values: [], server: null, problem: '' },
  models: null,
  refused: '',
  sandbox: null,
  context: {
    privacy: 'stats',
    tokens: 0,
    budget_tokens: 0,
    text: '',
    variables: [],
    variable_count: 0,
    sharing: { shared: {}, hidden_columns: {} }
  },
  found: null,
  pulls: {},
  runs: [],
  progress: {},
  proposals: [],
  grants: []
};

/** A switch of the user's that the kernel has not heard yet. */
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
    // What a kernel said that has no agent any more is no longer true.
    this._update({ ...(link === 'absent' ? EMPTY_STATE : this._state), link, problem });
  }

  /** The user's switch, shown at once and until the kernel has heard the message with this id. */
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

  /** A change is asked for: what was said of the last one is over. */
  clearRefusal(): void {
    this._update({ ...this._state, refused: '' });
  }

  apply(message: ToPage): void {
    const before = this._state;
    if (message.type === 'progress') {
      this._state = next(before, message);
      this._progressed.emit(message.run_id);
      return;
    }
    this._update(this._withPendingSwitches(next(before, message), message));
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

  /** A context sent before the kernel heard the user's last switches does not turn them back. */
  private _withPendingSwitches(state: IAgentState, message: ToPage): IAgentState {
    if (message.type === 'state') {
      this._unacknowledged = []; // a new connection: what was sent on the old one may be lost
    }
    if (message.type !== 'context') {
      return state;
    }
    const heard = this._unacknowledged.findIndex(one => one.id === message.heard);
    this._unacknowledged = this._unacknowledged.slice(heard + 1);
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

function next(state: IAgentState, message: ToPage): IAgentState {
  switch (message.type) {
    case 'state': {
      const { model, approve, settings, sandbox, context, runs, proposals, grants } = message;
      const known = message.progress ? withProgress(state, message.progress) : state;
      const progress = progressOf(known, runs);
      return {
        ...state,
        link: 'ready',
        problem: '',
        model,
        approve,
        settings,
        sandbox,
        context,
        runs,
        proposals,
        grants,
        progress,
        pulls: pullsOf(state, runs)
      };
    }
    case 'run': {
      const runs = replaced(state.runs, message.run).slice(-MAX_RUNS);
      return { ...state, runs, progress: progressOf(state, runs), pulls: pullsOf(state, runs) };
    }
    case 'progress':
      return withProgress(state, message);
    case 'proposal':
      return { ...state, proposals: replaced(state.proposals, message.proposal) };
    case 'resolved':
      return { ...state, proposals: state.proposals.filter(p => p.id !== message.proposal_id) };
    case 'grants':
      return { ...state, grants: message.grants };
    case 'decided': {
      const { run_id: id, state: cell_state } = message;
      const runs = state.runs.map(run => (run.id === id ? { ...run, cell_state } : run));
      return { ...state, runs };
    }
    case 'context':
      return { ...state, context: message.context };
    case 'models':
      return { ...state, models: message };
    case 'refused':
      return { ...state, refused: message.text };
    case 'columns':
      return { ...state, found: message };
    case 'pulled': {
      const pull: IPull = { state: message.ok ? 'done' : 'failed', text: message.text };
      return { ...state, pulls: { ...state.pulls, [pullKey(message.run_id, message.name)]: pull } };
    }
    case 'insert':
    case 'mark':
    case 'effects':
    case 'ping':
    case 'unrecorded':
      return state; // answered by the connection
    default:
      return assertNever(message);
  }
}

/** With the item of the same id in its old place, else at the end. */
function replaced<T extends { id: string }>(items: readonly T[], item: T): T[] {
  return items.some(other => other.id === item.id)
    ? items.map(other => (other.id === item.id ? item : other))
    : [...items, item];
}

function withProgress(state: IAgentState, message: IProgressMessage): IAgentState {
  const progress = extended(state.progress[message.run_id], message, Date.now());
  return { ...state, progress: { ...state.progress, [message.run_id]: progress } };
}

function progressOf(state: IAgentState, runs: readonly IRun[]): Record<string, IProgress> {
  const running = new Set(runs.filter(isRunning).map(run => run.id));
  return Object.fromEntries(Object.entries(state.progress).filter(([id]) => running.has(id)));
}

function pullsOf(state: IAgentState, runs: readonly IRun[]): Record<string, IPull> {
  const known = new Set(runs.map(run => run.id));
  return Object.fromEntries(Object.entries(state.pulls).filter(([key]) => known.has(key.split(' ', 1)[0])));
}

/** The run under way, else the last one. */
export function currentRun(state: IAgentState): IRun | null {
  return [...state.runs].reverse().find(isRunning) ?? state.runs[state.runs.length - 1] ?? null;
}
