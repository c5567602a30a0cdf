import { cellToAskAgain } from './askagain';
import type { IRun } from './record';
import { run } from './testing/golden';

function asked(prompt: string, request: Partial<IRun['request']> = {}): IRun {
  const plain = { ...run().request, approve: 'review' as const, privacy: 'stats' as const };
  return run({ request: { ...plain, prompt, ...request }, manifest: { copied: [], skipped: [] } });
}

it.each([
  ['', '%%agent --model m --new\nWhich?'],
  ['%%agent\nold text', '%%agent --model m --new\nWhich?'],
  [
    '%%agent --vars df[a,b] --model=old --new --max-steps 3\nold',
    '%%agent --model m --new --vars df[a,b] --max-steps 3\nWhich?'
  ],
  ["%%agent --where 'a > 1' --model 'the old' \n", "%%agent --model m --new --where 'a > 1'\nWhich?"],
  ['%%agent --approve auto --base-url http://elsewhere/v1\n', '%%agent --model m --new\nWhich?'],
  ['print(1)', '%%agent --model m --new\nWhich?']
])(
  'keeps the options of the original %j but for the model and what decides without the user',
  (original, expected) => {
    expect(cellToAskAgain(asked('Which?'), 'm', { fresh: true, original })).toBe(expected);
  }
);

it('is never asked with less privacy, fewer questions or more variables than the run was', () => {
  const strict = asked('Which?', { privacy: 'schema', approve: 'ask' });
  const copied = [{ name: 'df', type_name: 'DataFrame', size_bytes: 8 }];
  const strictest = { ...strict, manifest: { copied, skipped: [] } };
  expect(cellToAskAgain(strictest, 'm', { fresh: false })).toBe(
    '%%agent --model m --vars df --privacy schema --approve ask\nWhich?'
  );
  expect(
    cellToAskAgain(strictest, 'm', { fresh: false, original: '%%agent --privacy stats --approve ask' })
  ).toBe('%%agent --model m --privacy stats --approve ask\nWhich?');
});

it('quotes a model that is more than one word, and does not fill in what was filled in before', () => {
  expect(cellToAskAgain(asked('Is {{x}} it?'), "a b'c", { fresh: false })).toBe(
    `%%agent --model 'a b'"'"'c'\nIs \\{{x}} it?`
  );
});
