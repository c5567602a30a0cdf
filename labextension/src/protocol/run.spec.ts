import { run } from '../testing/golden';
import { isRun, isRunning } from './run';

it('the golden run is a run, and it is one while it has no steps, decision or result yet', () => {
  expect(isRun(run())).toBe(true);
  expect(isRun(run({ status: 'running', steps: [], ended_at: null, outputs: [] }))).toBe(true);
  const [step] = run().steps;
  expect(isRun(run({ steps: [{ ...step, result: null, decision: null }] }))).toBe(true);
});

it.each([
  ['an unknown status', { status: 'dancing' }],
  ['a step without code', { steps: [{ index: 1 }] }],
  ['an output without a type', { outputs: [{ text: 'x' }] }],
  ['no manifest', { manifest: undefined }],
  ['a prompt that is no text', { request: { prompt: 7, model: 'm' } }]
])('%s is not a run', (_, changes) => {
  expect(isRun({ ...run(), ...changes })).toBe(false);
});

it('a run that waits for the user is still running, an interrupted one is not', () => {
  expect(isRunning({ status: 'waiting' })).toBe(true);
  expect(isRunning({ status: 'running' })).toBe(true);
  expect(isRunning({ status: 'interrupted' })).toBe(false);
});
