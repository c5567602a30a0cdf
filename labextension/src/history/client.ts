/** The record of all runs, served by the Jupyter server also when no kernel runs. */
import { URLExt } from '@jupyterlab/coreutils';
import type { ICell } from '@jupyterlab/nbformat';
import { ServerConnection } from '@jupyterlab/services';

import { arrayOf, mapOf, nullable, number, oneOf, shape, string } from '../protocol/checks';
import type { CellState } from '../protocol/messages';
import type { IRun, RunStatus } from '../protocol/run';
import { isRun } from '../protocol/run';

export interface IRunLine {
  id: string;
  prompt: string;
  notebook: string | null;
  cell_id: string | null;
  model: string;
  status: RunStatus;
  started_at: number;
  ended_at: number | null;
  steps: number;
  prompt_tokens: number;
  completion_tokens: number;
  cell_state: CellState;
  error: string;
  /** Where a search found a word that the prompt does not have. */
  excerpt?: string;
}

/** What came of a run, in one word: of one that gave cells what was decided over them, else how it ended. */
export type Outcome = Exclude<RunStatus, 'ok'> | CellState;

export function outcomeOf(run: Pick<IRunLine, 'status' | 'cell_state'>): Outcome {
  return run.status === 'ok' ? run.cell_state : run.status;
}

/** A run whole, with what was decided over its cells, oldest first. */
export interface IRecordedRun extends IRun {
  decisions?: ICellDecision[];
}

export interface ICellDecision {
  at: number;
  /** `applied`: its code was run in the kernel. */
  what: CellState | 'applied';
  by: string;
  /** What was run in the kernel, as the person edited it; empty for other decisions. */
  code: string;
}

export interface ICounted {
  name: string;
  count: number;
}

/** All runs that match, without their lines. */
export interface IOverview {
  /** When each was started, newest first; seconds since the epoch. */
  times: number[];
  /** Under all conditions but that on the notebook itself; likewise the others. */
  notebooks: ICounted[];
  models: ICounted[];
  outcomes: ICounted[];
}

export interface IRunPage {
  total: number;
  runs: IRunLine[];
}

/** Conditions on runs; empty ones ask for nothing. */
export interface IRunFilter {
  search?: string;
  notebook?: string;
  model?: string;
  outcome?: string;
  /** Seconds since the epoch. */
  since?: number;
}

/** A notebook as the page has it, for `HistoryClient.notebook`. */
export interface INotebookCells {
  notebook: string;
  /** When its file was last saved; seconds since the epoch. */
  saved_at: number;
  cell_ids: string[];
  /** Runs to which some of its cells belong. */
  run_ids: string[];
}

export interface IRecordedCells {
  /** What was decided over those of these runs that were made in this notebook. */
  states: Record<string, CellState>;
  /** Those of these runs that the history has at all. */
  known: string[];
  /** Undecided results that belong into the notebook and are not there, the newest first. */
  missing: IRunLine[];
}

export interface IQuery extends IRunFilter {
  limit?: number;
  offset?: number;
}

const isCounted = arrayOf(shape({ name: string, count: number }));
const isOverview = shape({
  times: arrayOf(number),
  notebooks: isCounted,
  models: isCounted,
  outcomes: isCounted
});

export interface IInsertedCells {
  cells: ICell[];
  /** Output of the cell that asked, by MIME type. */
  receipt: Record<string, string>;
}

const isInserted = shape({
  cells: arrayOf(shape({ cell_type: string, metadata: shape({}) })),
  receipt: mapOf(string)
});

const isLines = arrayOf(
  shape({
    id: string,
    prompt: string,
    model: string,
    status: string,
    started_at: number,
    notebook: nullable(string)
  })
);
const isPage = shape({ total: number, runs: isLines });
const isRecordedCells = shape({
  states: mapOf(oneOf('pending', 'accepted', 'discarded', 'edited')),
  known: arrayOf(string),
  missing: isLines
});

/** The server's answer, in one line. */
export class HistoryError extends Error {
  constructor(
    message: string,
    /** HTTP status; 0 if there was no answer. */
    readonly status: number
  ) {
    super(message);
    this.name = 'HistoryError';
  }
}

export class HistoryClient {
  constructor(private readonly _settings = ServerConnection.makeSettings()) {}

  async list(query: IQuery): Promise<IRunPage> {
    const answer = await this._json(`runs${queryString(query)}`);
    return checked<IRunPage>(isPage, answer);
  }

  async overview(filter: IRunFilter): Promise<IOverview> {
    return checked<IOverview>(isOverview, await this._json(`overview${queryString(filter)}`));
  }

  async get(runId: string): Promise<IRecordedRun> {
    return checked<IRecordedRun>(isRun, await this._json(`runs/${encodeURIComponent(runId)}`));
  }

  /** What a run has put into its notebook. */
  async inserted(runId: string): Promise<IInsertedCells> {
    return checked<IInsertedCells>(isInserted, await this._json(`runs/${encodeURIComponent(runId)}/cells`));
  }

  /** What the history knows of the cells of a notebook. */
  async notebook(cells: INotebookCells): Promise<IRecordedCells> {
    const answer = await this._request('notebook', { method: 'POST', body: JSON.stringify(cells) });
    return checked<IRecordedCells>(isRecordedCells, await answer.json());
  }

  async export(runId: string, format: 'ipynb' | 'py'): Promise<Blob> {
    return (await this._request(`runs/${encodeURIComponent(runId)}/export?format=${format}`)).blob();
  }

  /** The text of a chart library that is installed where the server runs. */
  async library(name: 'plotly'): Promise<string> {
    return (await this._request(`libraries/${name}`)).text();
  }

  async setState(runId: string, state: CellState): Promise<void> {
    const init = { method: 'POST', body: JSON.stringify({ state }) };
    await this._request(`runs/${encodeURIComponent(runId)}/state`, init);
  }

  /** This code of a run is run in the kernel. */
  async noteApplied(runId: string, code: string): Promise<void> {
    const init = { method: 'POST', body: JSON.stringify({ code }) };
    await this._request(`runs/${encodeURIComponent(runId)}/applied`, init);
  }

  /** Why the administrator lets no code of a result run in the user's kernel; empty if they do. */
  async applyRefusal(): Promise<string> {
    const answer = await this._json('status');
    return checked<{ apply_refusal: string }>(shape({ apply_refusal: string }), answer).apply_refusal;
  }

  async delete(runId: string): Promise<void> {
    await this._request(`runs/${encodeURIComponent(runId)}`, { method: 'DELETE' });
  }

  /** How many went; runs under way stay. */
  async deleteNotebook(notebook: string): Promise<number> {
    return this._deleteRuns({ notebook });
  }

  async deleteAll(): Promise<number> {
    return this._deleteRuns({ all: 'yes' });
  }

  private async _deleteRuns(which: { notebook: string } | { all: string }): Promise<number> {
    const answer = await this._request(`runs${queryString(which)}`, { method: 'DELETE' });
    return checked<{ deleted: number }>(shape({ deleted: number }), await answer.json()).deleted;
  }

  private async _json(path: string): Promise<unknown> {
    return (await this._request(path)).json();
  }

  private async _request(path: string, init: RequestInit = {}): Promise<Response> {
    const url = URLExt.join(this._settings.baseUrl, 'jupyter-codeagent') + `/${path}`;
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(url, init, this._settings);
    } catch (error) {
      throw new HistoryError(`The Jupyter server does not answer: ${(error as Error).message}`, 0);
    }
    if (!response.ok) {
      throw new HistoryError(await problemOf(response), response.status);
    }
    return response;
  }
}

function checked<T>(check: (value: unknown) => boolean, answer: unknown): T {
  if (!check(answer)) {
    throw new HistoryError(
      'The server answered in an unknown form: it is of another version than this page.',
      200
    );
  }
  return answer as T;
}

function queryString(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return given.length ? `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}` : '';
}

async function problemOf(response: Response): Promise<string> {
  if (response.status === 404 && !response.headers.get('content-type')?.includes('json')) {
    return 'The server extension of jupyter-codeagent is not enabled: jupyter server extension enable jupyter_codeagent';
  }
  try {
    const { message } = (await response.json()) as { message?: string };
    return message || `${response.status} ${response.statusText}`;
  } catch {
    return `${response.status} ${response.statusText}`; // not JSON: a proxy's page
  }
}
