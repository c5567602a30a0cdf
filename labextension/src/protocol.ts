/**
 * Every message between kernel and page, protocol 1: the mirror of `jupyter_codeagent/frontend/messages.py`.
 * `tests/contract/messages.json` holds one golden example of each, checked from both sides.
 */
import type { ICell, IOutput } from '@jupyterlab/nbformat';

import { isRun, type IRun } from './record';
import { arrayOf, boolean, either, mapOf, nullable, number, oneOf, shape, string, type Check } from './shape';

export const TARGET = 'jupyter-codeagent';
export const PROTOCOL = 1;

export type Shared = 'auto' | 'shared' | 'hidden';
export type ApprovalPolicy = 'review' | 'ask' | 'auto';
export type CellState = 'pending' | 'accepted' | 'discarded' | 'edited';
export type Phase = 'context' | 'model' | 'waiting' | 'sandbox' | 'answer' | 'inserting' | 'ended';
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
  /** Exactly as it stands in the prompt; empty if it is left out or hidden. */
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

/** What the model would be told now. */
export interface IContext {
  privacy: 'schema' | 'stats' | 'samples';
  tokens: number;
  budget_tokens: number;
  text: string;
  /** The first ones, and those of which something is hidden. */
  variables: IVariable[];
  variable_count: number;
  sharing: ISharing;
}

export interface IProposal {
  id: string;
  run_id: string;
  kind: 'run' | 'apply' | 'overwrite' | 'mount';
  code: string;
  note: string;
  step: number;
}

export interface IUsage {
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  calls: number;
}

// --- kernel -> page

export interface IStateMessage {
  type: 'state';
  protocol: number;
  model: string;
  approve: ApprovalPolicy;
  sandbox: ISandbox | null;
  context: IContext;
  runs: IRun[];
  proposals: IProposal[];
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
  text: string;
  elapsed_s: number;
  usage: IUsage;
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

export interface IInsertMessage {
  type: 'insert';
  id: string;
  run_id: string;
  anchor: string | null;
  replace: string[];
  cells: ICell[];
}

export interface IMarkMessage {
  type: 'mark';
  id: string;
  run_id: string;
  state: 'accepted' | 'discarded';
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

export interface IPingMessage {
  type: 'ping';
}

export interface IContextMessage {
  type: 'context';
  context: IContext;
}

export interface IColumnsMessage {
  type: 'columns';
  name: string;
  search: string;
  columns: IColumn[];
  column_count: number;
}

export type ToPage =
  | IPulledMessage
  | IStateMessage
  | IRunMessage
  | IProgressMessage
  | IProposalMessage
  | IResolvedMessage
  | IInsertMessage
  | IMarkMessage
  | IPingMessage
  | IContextMessage
  | IColumnsMessage;

// --- page -> kernel

export interface IHelloMessage {
  type: 'hello';
  protocol: number;
  session: string;
  notebook: string | null;
  /** The lists in the metadata of the notebooks of this kernel. */
  sharing?: ISharing;
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
  scope?: 'once' | 'notebook';
}

export interface IStopMessage {
  type: 'stop';
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

export interface ICellStateMessage {
  type: 'cell_state';
  run_id: string;
  state: CellState;
}

export interface IShareMessage {
  type: 'share';
  name: string;
  shared: Shared;
}

export interface IShareColumnsMessage {
  type: 'share_columns';
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

export type FromPage =
  | IPullMessage
  | IHelloMessage
  | IPongMessage
  | IDecisionMessage
  | IStopMessage
  | IInsertedMessage
  | IMarkedMessage
  | ICellStateMessage
  | IShareMessage
  | IShareColumnsMessage
  | IFindColumnsMessage
  | ISharingMessage;

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
  sharing: shape({ shared: mapOf(isShared), hidden_columns: mapOf(arrayOf(string)) })
});
const isProposal = shape({
  id: string,
  run_id: string,
  kind: oneOf('run', 'apply', 'overwrite', 'mount'),
  code: string,
  note: string,
  step: number
});
const isCell = shape({
  id: string,
  cell_type: string,
  source: either(string, arrayOf(string)),
  metadata: shape({})
});

const TO_PAGE: { [Type in ToPage['type']]: Check } = {
  state: shape({
    protocol: number,
    model: string,
    approve: oneOf('review', 'ask', 'auto'),
    sandbox: nullable(isSandbox),
    context: isContext,
    runs: arrayOf(isRun),
    proposals: arrayOf(isProposal)
  }),
  run: shape({ run: isRun }),
  progress: shape({
    run_id: string,
    phase: oneOf('context', 'model', 'waiting', 'sandbox', 'answer', 'inserting', 'ended'),
    step: number,
    text: string,
    elapsed_s: number,
    usage: isUsage
  }),
  proposal: shape({ proposal: isProposal }),
  resolved: shape({ proposal_id: string, action: oneOf('approve', 'reject') }),
  insert: shape({
    id: string,
    run_id: string,
    anchor: nullable(string),
    replace: arrayOf(string),
    cells: arrayOf(isCell)
  }),
  mark: shape({ id: string, run_id: string, state: oneOf('accepted', 'discarded') }),
  pulled: shape({ id: string, run_id: string, name: string, ok: boolean, text: string }),
  ping: shape({}),
  context: shape({ context: isContext }),
  columns: shape({ name: string, search: string, columns: arrayOf(isColumn), column_count: number })
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
