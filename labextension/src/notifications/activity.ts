/** What waits for the user or runs in all notebooks of the page: facts and words, no DOM. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IProgress } from '../comm/progress';
import { elapsedSeconds } from '../comm/progress';
import { formatSeconds } from '../common/format';

/** One notebook (or kernel without an open notebook) with an agent. */
export interface IKernelActivity {
  kernelId: string;
  /** File name; empty if no notebook of the kernel is open. */
  notebook: string;
  /** Decisions that a run waits for. */
  decisions: number;
  /** Runs whose cells wait for Accept or Discard. */
  toReview: number;
  running: boolean;
  /** Of the run under way, as last reported. */
  progress: IProgress | null;
}

export function countDecisions(activity: readonly IKernelActivity[]): number {
  return activity.reduce((sum, one) => sum + one.decisions, 0);
}

export interface IStatusLine {
  kind: 'decision' | 'running' | 'review';
  text: string;
  /** One line per notebook. */
  title: string;
  /** Where a click leads. */
  kernelId: string;
}

/** The text of the status bar: what a person has to do comes before what goes by itself. None: nothing. */
export function statusLine(
  trans: TranslationBundle,
  activity: readonly IKernelActivity[],
  nowMs: number
): IStatusLine | null {
  const deciding = activity.filter(one => one.decisions > 0);
  const running = activity.filter(one => one.running);
  const reviewing = activity.filter(one => one.toReview > 0);
  const decisions = countDecisions(deciding);
  if (decisions > 0) {
    return {
      kind: 'decision',
      text: trans._n('%1 decision waiting', '%1 decisions waiting', decisions),
      title: titleOf(trans, deciding, one =>
        trans._n('%1 decision waiting', '%1 decisions waiting', one.decisions)
      ),
      kernelId: deciding[0].kernelId
    };
  }
  if (running.length > 0) {
    const first = running[0];
    const seconds = first.progress ? formatSeconds(Math.floor(elapsedSeconds(first.progress, nowMs)), 0) : '';
    return {
      kind: 'running',
      text:
        running.length > 1
          ? trans.__('Agent: %1 runs in progress', running.length)
          : [trans.__('Agent: running'), seconds].filter(Boolean).join(' '),
      title: titleOf(trans, running, () => trans.__('a run is in progress')),
      kernelId: first.kernelId
    };
  }
  if (reviewing.length > 0) {
    const count = reviewing.reduce((sum, one) => sum + one.toReview, 0);
    return {
      kind: 'review',
      text: trans._n('%1 result to review', '%1 results to review', count),
      title: titleOf(trans, reviewing, one =>
        trans._n('%1 result to review', '%1 results to review', one.toReview)
      ),
      kernelId: reviewing[0].kernelId
    };
  }
  return null;
}

function titleOf(
  trans: TranslationBundle,
  activity: readonly IKernelActivity[],
  words: (one: IKernelActivity) => string
): string {
  return activity.map(one => `${notebookName(trans, one)}: ${words(one)}`).join('\n');
}

export function notebookName(trans: TranslationBundle, activity: Pick<IKernelActivity, 'notebook'>): string {
  return activity.notebook || trans.__('a notebook that is closed');
}

/** Name of the panel's tab, read aloud by screen readers. */
export function tabCaption(trans: TranslationBundle, decisions: number): string {
  return decisions === 0
    ? trans.__('Code agent')
    : `${trans.__('Code agent')}: ${trans._n('%1 decision waiting', '%1 decisions waiting', decisions)}`;
}
