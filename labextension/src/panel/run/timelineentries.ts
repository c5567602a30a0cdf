/** What happened in a run, in order: the lines that the panel shows of it. */
import type { Phase } from '../../protocol/messages';
import type { IRun, IStep } from '../../protocol/run';
import { isRunning } from '../../protocol/run';

export type EntryState = 'done' | 'now' | 'failed' | 'stopped' | 'rejected';

export type IEntry =
  | { kind: 'variables' | 'answer' | 'cells'; state: EntryState }
  | {
      kind: 'step';
      state: EntryState;
      index: number;
      /** None while its first reply is awaited. */ step: IStep | null;
    };

/**
 * @param phase where the run is now; None for one that is over
 * @param stepCount steps that have begun, as the kernel's progress counts them
 */
export function timelineEntries(run: IRun, phase: Phase | null, stepCount: number): IEntry[] {
  const running = isRunning(run);
  const now = running ? (phase ?? 'context') : 'ended';
  const inStep = now === 'model' || now === 'waiting' || now === 'sandbox';
  const beforeSteps = now === 'context' || now === 'loading';
  const entries: IEntry[] = [{ kind: 'variables', state: beforeSteps ? 'now' : 'done' }];
  run.steps.forEach((step, i) => {
    const last = i === run.steps.length - 1;
    const current = inStep && last && stepCount <= run.steps.length;
    const state = current ? 'now' : stepState(step, last && run.status === 'stopped');
    entries.push({ kind: 'step', index: step.index, step, state });
  });
  if (inStep && (stepCount > run.steps.length || run.steps.length === 0)) {
    entries.push({ kind: 'step', index: run.steps.length + 1, step: null, state: 'now' });
  }
  if (run.answer) {
    entries.push({ kind: 'answer', state: 'done' });
  }
  if (now === 'inserting' || run.status === 'ok') {
    entries.push({ kind: 'cells', state: now === 'inserting' ? 'now' : 'done' });
  }
  return entries;
}

/** A person's no, and what a person has stopped, is no failure. */
function stepState(step: IStep, stopped: boolean): EntryState {
  if (step.result) {
    return step.result.status === 'ok' ? 'done' : step.result.status === 'interrupted' ? 'stopped' : 'failed';
  }
  if (step.decision?.action === 'reject') {
    return step.decision.decided_by === 'nobody' ? 'failed' : 'rejected';
  }
  return step.note && !stopped ? 'failed' : 'stopped';
}

/** Why a step did not do, in one line; empty if it did. */
export function stepProblem(step: IStep): string {
  const { result, decision, note } = step;
  if (result?.error) {
    return `${result.error.ename}: ${result.error.evalue}`.split('\n')[0];
  }
  if (result) {
    return result.status === 'ok' ? '' : result.reason.split('\n')[0];
  }
  return decision?.action === 'reject' ? decision.reason : note.split('\n')[0];
}
