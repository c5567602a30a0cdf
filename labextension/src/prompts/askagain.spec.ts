import type { IRun } from '../protocol/run';
import { run } from '../testing/golden';
import { cellToAskAgain } from './askagain';

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

describe('of a run whose cell is gone', () => {
  const copied = [{ name: 'df', type_name: 'DataFrame', size_bytes: 8 }];
  const gone = (selection: string): string => {
    const lost = { ...asked('Which?', { selection }), manifest: { copied, skipped: [] } };
    return cellToAskAgain(lost, 'm', { fresh: false });
  };

  it('keeps the columns, the rows and the sample that were chosen', () => {
    expect(gone("--vars 'df['\"'\"'a'\"'\"']' --sample 20 --where 'a > 1'")).toBe(
      "%%agent --model m --vars 'df['\"'\"'a'\"'\"']' --sample 20 --where 'a > 1'\nWhich?"
    );
  });

  it('names the variables that it had where none were named', () => {
    expect(gone('--sample 20')).toBe('%%agent --model m --sample 20 --vars df\nWhich?');
    expect(gone('--where \'a == " --vars x"\'')).toContain('--vars df');
    expect(gone('')).toBe('%%agent --model m --vars df\nWhich?');
  });

  it('has one line of options, whatever the record says', () => {
    expect(gone('--vars df\n{{secret}}').split('\n')).toEqual([
      '%%agent --model m --vars df {{secret}}',
      'Which?'
    ]);
  });
});

it('quotes a model that is more than one word, and does not fill in what was filled in before', () => {
  expect(cellToAskAgain(asked('Is {{x}} it?'), "a b'c", { fresh: false })).toBe(
    `%%agent --model 'a b'"'"'c'\nIs \\{{x}} it?`
  );
});
