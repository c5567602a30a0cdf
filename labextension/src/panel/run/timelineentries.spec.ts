import type { Phase } from '../../protocol/messages';
import type { IRun, IStep } from '../../protocol/run';
import { run } from '../../testing/golden';
import { stepProblem, timelineEntries } from './timelineentries';

const [failed, good] = run().steps;
const open: IStep = { ...good, index: 1, result: null, decision: null };
const lines = (changes: Partial<IRun>, phase: Phase | null, steps: number): string[] =>
  timelineEntries(run({ answer: '', ...changes }), phase, steps).map(
    entry => `${entry.kind === 'step' ? `step ${entry.index}` : entry.kind} ${entry.state}`
  );

it('a run goes from the variables over its steps to text and cells', () => {
  const running = { status: 'running' as const };
  expect(lines({ ...running, steps: [] }, null, 0)).toEqual(['variables now']);
  expect(lines({ ...running, steps: [] }, 'loading', 0)).toEqual(['variables now']);
  expect(lines({ ...running, steps: [] }, 'model', 1)).toEqual(['variables done', 'step 1 now']);
  expect(lines({ ...running, steps: [open] }, 'sandbox', 1)).toEqual(['variables done', 'step 1 now']);
  expect(lines({ ...running, steps: [failed] }, 'model', 2)).toEqual([
    'variables done',
    'step 1 failed',
    'step 2 now'
  ]);
  expect(
    lines({ ...running, steps: [{ ...good, index: 1 }], answer: 'x' }, 'inserting', 1).slice(-2)
  ).toEqual(['answer done', 'cells now']);
});

it('while a decision is waited for, its step is the one under way', () => {
  expect(lines({ status: 'waiting', steps: [open] }, 'waiting', 1)).toEqual(['variables done', 'step 1 now']);
});

it('of a run that is over nothing is under way', () => {
  expect(lines({ status: 'ok', answer: 'x' }, null, 0)).toEqual([
    'variables done',
    'step 1 failed',
    'step 2 done',
    'answer done',
    'cells done'
  ]);
  expect(lines({ status: 'stopped', steps: [open] }, null, 0)).toEqual(['variables done', 'step 1 stopped']);
});

it('a no of a person and what a person has stopped are no failures', () => {
  const state = (changes: Partial<IRun>): string => lines(changes, null, 0)[1];
  const no = { ...good.decision!, action: 'reject' as const, decided_by: 'panel', reason: 'use the median' };
  const rejected: IStep = { ...open, decision: no };
  expect(state({ status: 'rejected', steps: [rejected] })).toBe('step 1 rejected');
  expect(state({ status: 'ok', steps: [rejected, good] })).toBe('step 1 rejected');
  const unasked: IStep = { ...open, decision: { ...no, decided_by: 'nobody' } };
  expect(state({ status: 'rejected', steps: [unasked] })).toBe('step 1 failed');
  const noted: IStep = { ...open, note: 'no code in the reply' };
  expect(state({ status: 'stopped', steps: [noted] })).toBe('step 1 stopped');
  expect(state({ status: 'failed', steps: [noted] })).toBe('step 1 failed');
});

it('why a step failed is one line', () => {
  expect(stepProblem(good)).toBe('');
  expect(stepProblem(failed)).toBe("AttributeError: no 'delay'");
  expect(stepProblem({ ...open, note: 'no code in the reply\nmore' })).toBe('no code in the reply');
  const timeout = { ...good.result!, status: 'timeout' as const, reason: 'ran 120 s, the limit\nmore' };
  expect(stepProblem({ ...good, result: timeout })).toBe('ran 120 s, the limit');
});
