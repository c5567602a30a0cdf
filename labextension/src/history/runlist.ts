/** The history as the panel shows it: which runs match, of these the lines in sight, and what was opened. No DOM. */
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { HistoryClient, IOverview, IRunFilter, IRunLine } from './client';

/** Lines that are asked for at once. */
export const PAGE_SIZE = 50;
/** More would let a fast scroll wait for pages that have left the sight again. */
const MAX_REQUESTS = 2;

export interface IRunListState {
  filter: IRunFilter;
  /** Null until the first answer. */
  overview: IOverview | null;
  /** By their index in the list; those that were not in sight yet are missing. */
  lines: ReadonlyMap<number, IRunLine>;
  /** Answers for this filter are still to come. */
  loading: boolean;
  /** The server's error instead of an answer; empty otherwise. */
  problem: string;
}

/** What the tab shows: the list; one run; the list, to choose what to compare a run with; both of them. */
export type HistoryView =
  | { kind: 'list' }
  | { kind: 'run'; id: string }
  | { kind: 'choose'; id: string; prompt: string }
  | { kind: 'compare'; left: string; right: string };

export class RunList {
  constructor(private readonly _history: Pick<HistoryClient, 'list' | 'overview'>) {}

  get state(): IRunListState {
    return this._state;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get view(): HistoryView {
    return this._view;
  }

  set view(view: HistoryView) {
    this._view = view;
    this._changed.emit();
  }

  /** Where the keyboard is, and how far the list is scrolled: kept while a run is looked at. */
  position = { active: 0, top: 0 };

  /** Other conditions; the list stays as it is until the answer is there. */
  setFilter(filter: IRunFilter): Promise<void> {
    this.position = { active: 0, top: 0 };
    this._range = [0, PAGE_SIZE - 1];
    this._update({ filter });
    return this.refresh();
  }

  /** Read everything again: something was added, decided or deleted. */
  async refresh(): Promise<void> {
    const request = ++this._request;
    this._update({ loading: true });
    const { filter } = this._state;
    try {
      const [overview, lines] = await Promise.all([this._history.overview(filter), this._read(filter)]);
      if (request === this._request) {
        this._update({ overview, lines, loading: false, problem: '' });
        this._more();
      }
    } catch (error) {
      if (request === this._request) {
        this._update({ loading: false, problem: (error as Error).message });
      }
    }
  }

  /** These indices are in sight, the last included. */
  show(first: number, last: number): void {
    this._range = [first, last];
    if (this._state.overview) {
      this._more();
    }
  }

  /** The lines in sight, as a new map. */
  private async _read(filter: IRunFilter): Promise<ReadonlyMap<number, IRunLine>> {
    const pages = pagesOf(this._range);
    const answers = await Promise.all(
      pages.map(page => this._history.list({ ...filter, limit: PAGE_SIZE, offset: page * PAGE_SIZE }))
    );
    return new Map(answers.flatMap((answer, i) => placed(answer.runs, pages[i])));
  }

  private _more(): void {
    const { overview, lines, filter } = this._state;
    const total = overview?.times.length ?? 0;
    const missing = pagesOf(this._range).filter(
      page => page * PAGE_SIZE < total && !lines.has(page * PAGE_SIZE) && !this._asked.has(page)
    );
    for (const page of missing.slice(0, MAX_REQUESTS - this._asked.size)) {
      void this._add(filter, page, total);
    }
  }

  private async _add(filter: IRunFilter, page: number, total: number): Promise<void> {
    const request = this._request;
    this._asked.add(page);
    try {
      const answer = await this._history.list({ ...filter, limit: PAGE_SIZE, offset: page * PAGE_SIZE });
      if (request === this._request) {
        this._update({ lines: new Map([...this._state.lines, ...placed(answer.runs, page)]) });
        if (answer.total !== total) {
          void this.refresh(); // runs came or went: every index has changed
        }
      }
    } catch (error) {
      if (request === this._request) {
        this._update({ problem: (error as Error).message });
        return; // what is in sight is asked for again when the user scrolls or tries again
      }
    } finally {
      this._asked.delete(page);
    }
    this._more();
  }

  private _update(change: Partial<IRunListState>): void {
    this._state = { ...this._state, ...change };
    this._changed.emit();
  }

  private _state: IRunListState = {
    filter: {},
    overview: null,
    lines: new Map(),
    loading: false,
    problem: ''
  };
  private _view: HistoryView = { kind: 'list' };
  private _changed = new Signal<this, void>(this);
  private _range: [number, number] = [0, PAGE_SIZE - 1];
  private _request = 0;
  private _asked = new Set<number>();
}

function pagesOf([first, last]: [number, number]): number[] {
  const from = Math.floor(Math.max(0, first) / PAGE_SIZE);
  const to = Math.floor(Math.max(first, last, 0) / PAGE_SIZE);
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

function placed(runs: readonly IRunLine[], page: number): [number, IRunLine][] {
  return runs.map((run, i) => [page * PAGE_SIZE + i, run]);
}
