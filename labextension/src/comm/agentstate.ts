/** What the page knows of the agent in one kernel, as one immutable value, and how each message changes it. Pure. */
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
    house_rules: [],
    sharing: { shared: {}, hidden_columns: {} }
  },
  found: null,
  pulls: {},
  runs: [],
  progress: {},
  proposals: [],
  grants: []
};

/** The state after a message of the kernel. */
export function nextState(state: IAgentState, message: ToPage, nowMs: number): IAgentState {
  switch (message.type) {
    case 'state': {
      const { model, approve, settings, sandbox, context, runs, proposals, grants } = message;
      const known = message.progress ? withProgress(state, message.progress, nowMs) : state;
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
      return withProgress(state, message, nowMs);
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
    case 'ask':
    case 'effects':
    case 'ping':
    case 'unrecorded':
      return state; // answered by the connection
    default:
      return assertNever(message);
  }
}

/** With the item of the same id replaced where it is, else at the end. */
function replaced<T extends { id: string }>(items: readonly T[], item: T): T[] {
  return items.some(other => other.id === item.id)
    ? items.map(other => (other.id === item.id ? item : other))
    : [...items, item];
}

function withProgress(state: IAgentState, message: IProgressMessage, nowMs: number): IAgentState {
  const progress = extended(state.progress[message.run_id], message, nowMs);
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
