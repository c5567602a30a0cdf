/**
 * Every message between kernel and page, protocol 1: the mirror of `jupyter_codeagent/frontend/messages.py`.
 * `tests/contract/messages.json` holds one golden example of each, checked from both sides.
 */
import type { ICell, IOutput } from '@jupyterlab/nbformat';

import {
  arrayOf,
  boolean,
  either,
  mapOf,
  nullable,
  number,
  oneOf,
  optional,
  shape,
  string,
  type Check
} from './checks';
import { isRun, isToolCall, type IRun, type IToolCall } from './run';

export const TARGET = 'jupyter-codeagent';
export const PROTOCOL = 1;

/** The kernel's word for a model that runs in it, as the model to use and as the label of its server. */
export const EMBEDDED = 'embedded';

export type Shared = 'auto' | 'shared' | 'hidden';
export type ApprovalPolicy = 'review' | 'ask' | 'auto';
export type Privacy = 'schema' | 'stats' | 'samples';
export type CellState = 'pending' | 'accepted' | 'discarded' | 'edited';
export type Phase = 'context' | 'loading' | 'model' | 'waiting' | 'sandbox' | 'inserting' | 'ended';
export type { ICell, IOutput };

export interface ISandbox {
  level: string;
  label: string;
  layers: string[];
  closed: string[];
  open: string[];
  limits: string[];
  hint: string;
}

export interface IColumn {
  name: string;
  dtype: string;
  hidden: boolean;
}

export interface IVariable {
  name: string;
  type_name: string;
  headline: string;
  size_bytes: number | null;
  shared: Shared;
  /** Exactly as it is in the prompt; empty if it is left out or hidden. */
  told: string;
  tokens: number;
  /** Why it is hidden as a whole although only columns of it are; else empty. */
  withheld: string;
  /** The first ones, and those that are hidden. */
  columns: IColumn[];
  column_count: number;
  hidden_count: number;
}

/** What is hidden or always shared, by name. */
export interface ISharing {
  shared: Record<string, Shared>;
  hidden_columns: Record<string, string[]>;
}

/** A file with house rules. */
export interface IHouseRules {
  path: string;
  /** Exactly as it is in the prompt; empty if none of it is told. */
  told: string;
  tokens: number;
  /** What is not told, and why; empty if that is nothing. */
  left_out: string;
}

/** What the prompt would contain now. */
export interface IContext {
  privacy: Privacy;
  tokens: number;
  budget_tokens: number;
  text: string;
  /** The first ones, and those of which something is hidden. */
  variables: IVariable[];
  variable_count: number;
  house_rules: IHouseRules[];
  sharing: ISharing;
  /** Runs that left the conversation: no question can go on from them. Not from kernels of older versions. */
  forgotten?: string[];
}

/** A name and what it refers to (`DataFrame 1000x4`); empty if that is not known. */
export interface INamed {
  name: string;
  what: string;
}

/** What code would do to the names of the user's kernel, as far as its text shows. */
export interface IEffects {
  reads: INamed[];
  creates: INamed[];
  overwrites: INamed[];
  changes: INamed[];
  deletes: INamed[];
  missing: string[];
  writes: string[];
  unclear: string[];
}

export type SettingValue = string | number | boolean;

export interface ISetting {
  name: string;
  value: SettingValue;
  source: 'session' | 'file' | 'environment' | 'user' | 'default' | 'administrator';
  /** Nothing else is allowed. */
  fixed: boolean;
  /** The most that the administrator allows. */
  limit: SettingValue | null;
}

/** Where prompts go. */
export interface IServer {
  model: string;
  label: string;
  remote: boolean;
}

export interface ISettings {
  values: ISetting[];
  server: IServer | null;
  /** Why no run is possible; then nothing else is sent. */
  problem: string;
}

export interface IServed {
  base_url: string;
  label: string;
  remote: boolean;
  /** Why it cannot be used; empty if it answered. */
  problem: string;
  models: string[];
}

/** A lasting approval; together the two name it. */
export interface IGrant {
  kind: 'run' | 'mount' | 'call' | 'query' | 'server';
  /** The function, the file or the server; empty where the kind is enough. */
  subject: string;
}

/** What an approval is for; `run` is for calls of functions. */
export type Scope = 'once' | 'run' | 'notebook';

export interface IProposal {
  id: string;
  run_id: string;
  kind: 'run' | 'apply' | 'overwrite' | 'mount' | 'call' | 'query' | 'server';
  code: string;
  note: string;
  why: string;
  /** Of the attempt before in this run; empty if there was none. */
  previous_code: string;
  /** Null for what is no code. */
  effects: IEffects | null;
  step: number;
  /** Of a function, that the program makes in one go. */
  calls: number;
  /** What an approval can be for, the usual one first. */
  scopes: Scope[];
  /** What it grants with the scope `notebook`. */
  lasting: IGrant[];
}

export interface IUsage {
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  calls: number;
  /** By us, at least in part: the server has not counted. Not from older kernels. */
  estimated?: boolean;
}

// --- kernel -> page

export interface IStateMessage {
  type: 'state';
  protocol: number;
  model: string;
  approve: ApprovalPolicy;
  settings: ISettings;
  sandbox: ISandbox | null;
  context: IContext;
  runs: IRun[];
  proposals: IProposal[];
  grants: IGrant[];
  /** Of the run under way, with its whole text. */
  progress: IProgressMessage | null;
}

export interface IRunMessage {
  type: 'run';
  run: IRun;
}

export interface IProgressMessage {
  type: 'progress';
  run_id: string;
  phase: Phase;
  step: number;
  /** Another number: another text. */
  stream: number;
  /** Where `text` begins in the whole text; the page asks with `missed` if it has less. */
  offset: number;
  text: string;
  elapsed_s: number;
  usage: IUsage;
  /** The last of this execution; `call_count` is the number of all. */
  calls: IToolCall[];
  call_count: number;
}

export interface IProposalMessage {
  type: 'proposal';
  proposal: IProposal;
}

export interface IResolvedMessage {
  type: 'resolved';
  proposal_id: string;
  action: 'approve' | 'reject';
}

/** All yeses that last, after one was given or taken back. */
export interface IGrantsMessage {
  type: 'grants';
  grants: IGrant[];
}

export interface IInsertMessage {
  type: 'insert';
  id: string;
  run_id: string;
  anchor: string | null;
  replace: string[];
  /** Runs of the same code that were kept: nothing is inserted where the notebook has cells of one of them. */
  unless: string[];
  cells: ICell[];
}

/** Somebody decided over a run's cells, and the history has it. */
export interface IDecidedMessage {
  type: 'decided';
  run_id: string;
  state: CellState;
  /** Of the page where it was decided, which has it in its notebook already; empty for a command in a cell. */
  session: string;
}

export interface IMarkMessage {
  type: 'mark';
  id: string;
  run_id: string;
  state: 'accepted' | 'discarded';
}

/** Insert a question from a chat as a cell of the user's below the active one; answered by `asked`. */
export interface IAskMessage {
  type: 'ask';
  id: string;
  /** Path of the notebook, as the server knows it. */
  notebook: string;
  cell_id: string;
  source: string;
  /** Whether the cell is run; when it has, `ask_ended` is sent. */
  runs: boolean;
}

/** Answers `pull`: the variable is in the user's kernel now, or why not. */
export interface IPulledMessage {
  type: 'pulled';
  id: string;
  run_id: string;
  name: string;
  ok: boolean;
  text: string;
}

/** Answers `find_effects`. */
export interface IEffectsMessage {
  type: 'effects';
  id: string;
  effects: IEffects;
}

export interface IPingMessage {
  type: 'ping';
}

export interface IContextMessage {
  type: 'context';
  context: IContext;
  /** Id of the switch that is the reason; empty for other reasons. */
  heard: string;
}

export interface IColumnsMessage {
  type: 'columns';
  name: string;
  search: string;
  columns: IColumn[];
  column_count: number;
}

export interface IModelsMessage {
  type: 'models';
  servers: IServed[];
  embedded: { name: string; problem: string };
  /** Whether the usual ports of this machine were probed. */
  looked: boolean;
}

export interface IRefusedMessage {
  type: 'refused';
  text: string;
}

/** To the page whose `cell_state` or `applied` the history did not take, and why. */
export interface IUnrecordedMessage {
  type: 'unrecorded';
  run_id: string;
  what: CellState | 'applied';
  text: string;
}

export type ToPage =
  | IPulledMessage
  | IStateMessage
  | IRunMessage
  | IProgressMessage
  | IProposalMessage
  | IResolvedMessage
  | IGrantsMessage
  | IInsertMessage
  | IMarkMessage
  | IAskMessage
  | IDecidedMessage
  | IEffectsMessage
  | IPingMessage
  | IContextMessage
  | IColumnsMessage
  | IModelsMessage
  | IRefusedMessage
  | IUnrecordedMessage;

// --- page -> kernel

export interface IHelloMessage {
  type: 'hello';
  protocol: number;
  session: string;
  notebook: string | null;
  /** The lists in the metadata of the notebooks of this kernel. */
  sharing?: ISharing;
  preferences?: Record<string, SettingValue>;
  /** The name under which Jupyter AI knows the page, where it is installed. */
  web_client?: string;
}

export interface IPongMessage {
  type: 'pong';
}

export interface IDecisionMessage {
  type: 'decision';
  proposal_id: string;
  action: 'approve' | 'reject';
  code?: string;
  reason?: string;
  scope?: Scope;
  /** With the scope `run`: of so many calls. */
  calls?: number;
}

/** The user takes back a lasting approval. */
export interface ITakeBackMessage extends IGrant {
  type: 'take_back';
}

/** What would this code do to the names of the user's kernel? */
export interface IFindEffectsMessage {
  type: 'find_effects';
  id: string;
  code: string;
  /** Else in the sandbox, on copies. */
  in_kernel: boolean;
}

/** The user approved running a run's code in their own kernel. */
export interface IAppliedMessage {
  type: 'applied';
  run_id: string;
  /** As it is in the cell. */
  code: string;
}

export interface IStopMessage {
  type: 'stop';
  /** Or the id of the request to execute that asks for it, where that has not started. */
  run_id: string;
}

/** A part of the growing text did not arrive; answered by a `progress` with all of it. */
export interface IMissedMessage {
  type: 'missed';
  run_id: string;
}

export interface IInsertedMessage {
  type: 'inserted';
  id: string;
  ok: boolean;
  cell_ids: string[];
  problem: string;
}

export interface IMarkedMessage {
  type: 'marked';
  id: string;
  ok: boolean;
  cell_ids: string[];
  problem: string;
}

export interface IAskedMessage {
  type: 'asked';
  id: string;
  ok: boolean;
  cell_ids: string[];
  problem: string;
}

/** The cell of an `ask` has run, or the kernel gave it up since a cell before it had failed. */
export interface IAskEndedMessage {
  type: 'ask_ended';
  id: string;
}

export interface ICellStateMessage {
  type: 'cell_state';
  run_id: string;
  state: CellState;
}

export interface IShareMessage {
  type: 'share';
  id: string;
  name: string;
  shared: Shared;
}

export interface IShareColumnsMessage {
  type: 'share_columns';
  id: string;
  name: string;
  columns: string[];
  hidden: boolean;
}

export interface IFindColumnsMessage {
  type: 'find_columns';
  name: string;
  search: string;
}

export interface ISharingMessage {
  type: 'sharing';
  sharing: ISharing;
}

/** Copy this variable of the sandbox into the user's kernel. */
export interface IPullMessage {
  type: 'pull';
  id: string;
  run_id: string;
  name: string;
}

export interface IFindModelsMessage {
  type: 'find_models';
}

export interface IUseModelMessage {
  type: 'use_model';
  model: string;
  /** Empty for the embedded model. */
  base_url: string;
  /** Of a remote server: its label, which the user approved. */
  confirmed: string;
}

export interface IChooseMessage {
  type: 'choose';
  name: string;
  value: SettingValue;
}

export interface IPreferencesMessage {
  type: 'preferences';
  preferences: Record<string, SettingValue>;
}

export type FromPage =
  | IPullMessage
  | IHelloMessage
  | IPongMessage
  | IDecisionMessage
  | ITakeBackMessage
  | IFindEffectsMessage
  | IAppliedMessage
  | IStopMessage
  | IMissedMessage
  | IInsertedMessage
  | IMarkedMessage
  | IAskedMessage
  | IAskEndedMessage
  | ICellStateMessage
  | IShareMessage
  | IShareColumnsMessage
  | IFindColumnsMessage
  | ISharingMessage
  | IFindModelsMessage
  | IUseModelMessage
  | IChooseMessage
  | IPreferencesMessage;

// --- what arrives is checked before it is believed

/** A message that is not of this protocol: kernel and page are of different versions, or someone else speaks. */
export class ProtocolError extends Error {
  constructor(readonly received: unknown) {
    super(`Not a message of protocol ${PROTOCOL}: ${JSON.stringify(received)?.slice(0, 200)}`);
    this.name = 'ProtocolError';
  }
}

const isUsage = shape({
  prompt_tokens: number,
  completion_tokens: number,
  cached_tokens: number,
  calls: number
});
const isSandbox = shape({
  level: string,
  label: string,
  layers: arrayOf(string),
  closed: arrayOf(string),
  open: arrayOf(string),
  limits: arrayOf(string),
  hint: string
});
const isShared = oneOf('auto', 'shared', 'hidden');
const isColumn = shape({ name: string, dtype: string, hidden: boolean });
const isVariable = shape({
  name: string,
  type_name: string,
  headline: string,
  size_bytes: nullable(number),
  shared: isShared,
  told: string,
  tokens: number,
  withheld: string,
  columns: arrayOf(isColumn),
  column_count: number,
  hidden_count: number
});
const isContext = shape({
  privacy: oneOf('schema', 'stats', 'samples'),
  tokens: number,
  budget_tokens: number,
  text: string,
  variables: arrayOf(isVariable),
  variable_count: number,
  house_rules: arrayOf(shape({ path: string, told: string, tokens: number, left_out: string })),
  sharing: shape({ shared: mapOf(isShared), hidden_columns: mapOf(arrayOf(string)) }),
  forgotten: optional(arrayOf(string))
});
const isNamed = shape({ name: string, what: string });
const isEffects = shape({
  reads: arrayOf(isNamed),
  creates: arrayOf(isNamed),
  overwrites: arrayOf(isNamed),
  changes: arrayOf(isNamed),
  deletes: arrayOf(isNamed),
  missing: arrayOf(string),
  writes: arrayOf(string),
  unclear: arrayOf(string)
});
const isValue = either(string, either(number, boolean));
const isSettings = shape({
  values: arrayOf(
    shape({
      name: string,
      value: isValue,
      source: oneOf('session', 'file', 'environment', 'user', 'default', 'administrator'),
      fixed: boolean,
      limit: nullable(isValue)
    })
  ),
  server: nullable(shape({ model: string, label: string, remote: boolean })),
  problem: string
});
const isGrant = shape({ kind: oneOf('run', 'mount', 'call', 'query', 'server'), subject: string });
const isProposal = shape({
  id: string,
  run_id: string,
  kind: oneOf('run', 'apply', 'overwrite', 'mount', 'call', 'query', 'server'),
  code: string,
  note: string,
  why: string,
  previous_code: string,
  effects: nullable(isEffects),
  step: number,
  calls: number,
  scopes: arrayOf(oneOf('once', 'run', 'notebook')),
  lasting: arrayOf(isGrant)
});
const isCell = shape({
  id: string,
  cell_type: string,
  source: either(string, arrayOf(string)),
  metadata: shape({})
});

const isProgress = shape({
  run_id: string,
  phase: oneOf('context', 'loading', 'model', 'waiting', 'sandbox', 'inserting', 'ended'),
  step: number,
  stream: number,
  offset: number,
  text: string,
  elapsed_s: number,
  usage: isUsage,
  calls: arrayOf(isToolCall),
  call_count: number
});

const TO_PAGE: { [Type in ToPage['type']]: Check } = {
  state: shape({
    protocol: number,
    model: string,
    approve: oneOf('review', 'ask', 'auto'),
    settings: isSettings,
    sandbox: nullable(isSandbox),
    context: isContext,
    runs: arrayOf(isRun),
    proposals: arrayOf(isProposal),
    grants: arrayOf(isGrant),
    progress: nullable(isProgress)
  }),
  run: shape({ run: isRun }),
  progress: isProgress,
  proposal: shape({ proposal: isProposal }),
  resolved: shape({ proposal_id: string, action: oneOf('approve', 'reject') }),
  grants: shape({ grants: arrayOf(isGrant) }),
  insert: shape({
    id: string,
    run_id: string,
    anchor: nullable(string),
    replace: arrayOf(string),
    unless: arrayOf(string),
    cells: arrayOf(isCell)
  }),
  decided: shape({
    run_id: string,
    state: oneOf('pending', 'accepted', 'discarded', 'edited'),
    session: string
  }),
  mark: shape({ id: string, run_id: string, state: oneOf('accepted', 'discarded') }),
  ask: shape({ id: string, notebook: string, cell_id: string, source: string, runs: boolean }),
  pulled: shape({ id: string, run_id: string, name: string, ok: boolean, text: string }),
  effects: shape({ id: string, effects: isEffects }),
  ping: shape({}),
  context: shape({ context: isContext, heard: string }),
  columns: shape({ name: string, search: string, columns: arrayOf(isColumn), column_count: number }),
  models: shape({
    servers: arrayOf(
      shape({ base_url: string, label: string, remote: boolean, problem: string, models: arrayOf(string) })
    ),
    embedded: shape({ name: string, problem: string }),
    looked: boolean
  }),
  refused: shape({ text: string }),
  unrecorded: shape({
    run_id: string,
    what: oneOf('pending', 'accepted', 'discarded', 'edited', 'applied'),
    text: string
  })
};

export function isToPage(data: unknown): data is ToPage {
  const type = (data as { type?: unknown } | null | undefined)?.type;
  return (
    typeof type === 'string' && Object.keys(TO_PAGE).includes(type) && TO_PAGE[type as ToPage['type']](data)
  );
}

/** The message, or a `ProtocolError`. */
export function readMessage(data: unknown): ToPage {
  if (!isToPage(data)) {
    throw new ProtocolError(data);
  }
  return data;
}

export function assertNever(message: never): never {
  throw new ProtocolError(message);
}
