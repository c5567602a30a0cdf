/** The record of a run as the kernel and the history write it. Mirrors `AgentRun` in `jupyter_codeagent/types/run.py`. */
import type { IOutput } from '@jupyterlab/nbformat';

import { arrayOf, nullable, number, oneOf, optional, shape, string } from './checks';
import type { ApprovalPolicy, CellState, IUsage } from './messages';

export type RunStatus = 'running' | 'waiting' | 'ok' | 'failed' | 'stopped' | 'rejected' | 'interrupted';

export interface IChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface IResult {
  status: 'ok' | 'error' | 'timeout' | 'killed' | 'interrupted';
  outputs: IOutput[];
  error: { ename: string; evalue: string; line: number | null; source: string } | null;
  reason: string;
  duration_s: number;
  peak_memory_bytes: number;
  notes: string[];
  /** Of the user's functions. Not in records of older versions. */
  calls?: IToolCall[];
}

export interface IToolCall {
  tool: string;
  call: string;
  status: 'ok' | 'failed' | 'denied' | 'refused' | 'stopped' | 'undone';
  /** `function`, or the library of a database. Not in records of older versions. */
  kind?: string;
  line: number | null;
  result: string;
  decided_by: string;
  /** The same call had been made before in this run; its result was given again. */
  earlier: boolean;
  duration_s: number;
}

export interface IDecision {
  action: 'approve' | 'reject';
  code: string;
  decided_by: string;
  reason: string;
  scope: 'once' | 'run' | 'notebook';
  decided_at: number;
  /** What was approved is the person's own text. Not in records of older versions. */
  edited?: boolean;
}

export interface IStep {
  index: number;
  /** Exactly what was sent; only in the whole record, not while a run is watched. */
  messages?: IChatMessage[];
  prefill?: string;
  reply: string;
  code: string;
  decision: IDecision | null;
  result: IResult | null;
  usage: IUsage;
  duration_s: number;
  note: string;
}

export interface IManifest {
  copied: { name: string; type_name: string; size_bytes: number }[];
  skipped: { name: string; reason: string }[];
  /** Those of the copies that an earlier run had made. Not in records of older versions. */
  unchanged?: string[];
}

/** What a part of a message holds of the user's, beside the question. */
export type ContentKind =
  | 'names'
  | 'statistics'
  | 'rows'
  | 'functions'
  | 'house_rules'
  | 'earlier_code'
  | 'earlier_results'
  | 'output'
  | 'error'
  | 'error_kind'
  | 'doubt'
  | 'calls'
  | 'reason'
  | 'edited_code'
  | 'texts';

/** A request to the model's server, or several that hold the same kinds of things. */
export interface IModelCall {
  purpose: 'program' | 'text' | 'count';
  kinds: ContentKind[];
  /** Whether its text has left for the server. */
  sent: boolean;
  usage: IUsage;
}

export interface IRequest {
  prompt: string;
  model: string;
  server?: string;
  remote?: boolean;
  approve: ApprovalPolicy;
  /** Not in records of older versions. */
  privacy?: 'schema' | 'stats' | 'samples';
  max_steps: number;
  /** Of which variables, columns and rows, as options of the magic. Not in records of older versions. */
  selection?: string;
  /** Run from which the question goes on; empty for the result before it. Not in records of older versions. */
  follows?: string;
  /** Run of which this is another version, and what was to be different. Not in records of older versions. */
  refines?: string;
  refinement?: string;
  cell_id: string | null;
  notebook: string | null;
}

/** How the sandbox's copy of a variable differs from the variable. */
export interface IChange {
  name: string;
  kind: 'changed' | 'rebound' | 'deleted';
  /** Columns or keys, as Python writes them. */
  added: string[];
  removed: string[];
  values: string[];
  notes: string[];
  /** An earlier run had left it so. */
  earlier: boolean;
}

/** A variable that a run made in the sandbox. */
export interface IMade {
  name: string;
  type_name: string;
  shape: number[];
  /** Empty where it cannot be brought back. */
  returns_as: '' | 'data' | 'image' | 'specification';
}

/** One call, selection or assignment of a program, as the sandbox counted it. */
export interface IOperation {
  /** What it did, in one line. */
  text: string;
  /** Of the program, from 1. */
  line: number;
  examples: IExamples | null;
}

/** The first rows or values that an operation left out or changed. */
export interface IExamples {
  title: string;
  columns: string[];
  rows: string[][];
}

/** Something that the program decided and nobody asked for. */
export interface IAssumption {
  text: string;
  /** What asks for the other choice; empty where there is none. */
  refinement: string;
  line: number;
}

export type VerdictLevel = 'checked' | 'look' | 'doubtful';

export interface IVerdict {
  level: VerdictLevel;
  reason: string;
}

export interface IRun {
  id: string;
  request: IRequest;
  status: RunStatus;
  started_at: number;
  ended_at: number | null;
  steps: IStep[];
  manifest: IManifest;
  context: string;
  /** Not in records of older versions. */
  house_rules?: string;
  sandbox: string;
  code: string;
  outputs: IOutput[];
  /** Not in records of older versions, like `made`. */
  changes?: IChange[];
  made?: IMade[];
  /** Not in records of older versions, like the three below. */
  operations?: IOperation[];
  not_observed?: string;
  assumptions?: IAssumption[];
  verdict?: IVerdict | null;
  answer: string;
  error: string;
  /** Not in records of older versions. */
  model_calls?: IModelCall[];
  usage: IUsage;
  notes: string[];
  cell_state: CellState;
  /** Where the result was put. Not in records of older versions, like `replayed_from`. */
  placed?: '' | 'inserting' | 'cells' | 'kept' | 'undelivered' | 'output' | 'nowhere';
  /** Run whose code was executed again without asking a model; with `kept` its cells show this result too. */
  replayed_from?: string;
  /** What its kernel can answer next without a model. Not in records of older versions. */
  next_questions?: string[];
}

export const isToolCall = shape({
  call: string,
  status: oneOf('ok', 'failed', 'denied', 'refused', 'stopped', 'undone'),
  result: string,
  decided_by: string,
  duration_s: number
});
const isResult = shape({
  status: string,
  outputs: arrayOf(shape({ output_type: string })),
  duration_s: number,
  calls: optional(arrayOf(isToolCall))
});
const isStep = shape({
  index: number,
  messages: optional(arrayOf(shape({ role: string, content: string }))),
  code: string,
  reply: string,
  decision: nullable(shape({ action: string, decided_by: string })),
  result: nullable(isResult),
  usage: shape({ prompt_tokens: number, completion_tokens: number })
});

/** Check the fields that are displayed; a newer kernel may send more. */
export const isRun = shape({
  id: string,
  request: shape({
    prompt: string,
    model: string,
    follows: optional(string),
    refines: optional(string),
    refinement: optional(string)
  }),
  status: oneOf('running', 'waiting', 'ok', 'failed', 'stopped', 'rejected', 'interrupted'),
  started_at: number,
  ended_at: nullable(number),
  steps: arrayOf(isStep),
  manifest: shape({
    copied: arrayOf(shape({ name: string, size_bytes: number })),
    skipped: arrayOf(shape({ name: string, reason: string })),
    unchanged: optional(arrayOf(string))
  }),
  context: string,
  house_rules: optional(string),
  sandbox: string,
  code: string,
  outputs: arrayOf(shape({ output_type: string })),
  changes: optional(
    arrayOf(
      shape({
        name: string,
        kind: oneOf('changed', 'rebound', 'deleted'),
        added: arrayOf(string),
        removed: arrayOf(string),
        values: arrayOf(string),
        notes: arrayOf(string)
      })
    )
  ),
  made: optional(
    arrayOf(
      shape({
        name: string,
        type_name: string,
        shape: arrayOf(number),
        returns_as: oneOf('', 'data', 'image', 'specification')
      })
    )
  ),
  operations: optional(
    arrayOf(
      shape({
        text: string,
        line: number,
        examples: nullable(shape({ title: string, columns: arrayOf(string), rows: arrayOf(arrayOf(string)) }))
      })
    )
  ),
  not_observed: optional(string),
  assumptions: optional(arrayOf(shape({ text: string, refinement: string, line: number }))),
  verdict: optional(nullable(shape({ level: oneOf('checked', 'look', 'doubtful'), reason: string }))),
  answer: string,
  error: string,
  model_calls: optional(arrayOf(shape({ purpose: string, kinds: arrayOf(string) }))),
  usage: shape({ prompt_tokens: number, completion_tokens: number, cached_tokens: number }),
  notes: arrayOf(string),
  next_questions: optional(arrayOf(string)),
  cell_state: oneOf('pending', 'accepted', 'discarded', 'edited')
});

export function isRunning(run: Pick<IRun, 'status'>): boolean {
  return run.status === 'running' || run.status === 'waiting';
}
