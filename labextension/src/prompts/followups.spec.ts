import { nullTranslator } from '@jupyterlab/translation';

import { askFromSource, explainSource, fixSource, shortId } from './followups';

const trans = nullTranslator.load('x');

it('a failed cell is named by as much of its id as no other cell shares', () => {
  const all = ['aaaabbbb-1111', 'aaaabbbb-2222', 'ccccdddd-1111'];
  expect(shortId('ccccdddd-1111', all)).toBe('ccccdddd');
  expect(fixSource('aaaabbbb-2222', all)).toBe('%agent fix aaaabbbb-2');
  expect(shortId('short', ['short', 'short-and-longer'])).toBe('short');
});

it('an id that is more than a name goes into no cell: a notebook of another could run its code with it', () => {
  for (const id of ["x\nimport os; os.system('id')\n#1", 'x !ls', 'x\\', '']) {
    expect(() => fixSource(id, [id, `${id}2`])).toThrow('not the id of a cell');
  }
});

it('a follow-up quotes its question in one line, the beginning of a long one', () => {
  const [magic, line, ...rest] = explainSource('Which\n  carrier?', trans).split('\n');
  expect([magic, line, rest.length]).toEqual([
    '%%agent',
    'Explain the result of “Which carrier?” in plain words.',
    1
  ]);
  const long = explainSource('word '.repeat(100), trans).split('\n')[1];
  expect(long.length).toBeLessThan(130);
  expect(long).toContain('…”');
});

it('a question that goes on from a result names its run on the line of options, and nothing else', () => {
  expect(askFromSource('3f2a90c1b7de')).toBe('%%agent --from 3f2a90c1b7de\n');
  for (const id of ['', 'x --approve auto', 'x\nimport os', 'x;y', 'x'.repeat(65)]) {
    expect(() => askFromSource(id)).toThrow('not the id of a run');
  }
});

it.each(['more than {{limit}}?', '{{{limit}}}', '{{ {{limit'])(
  'an expression in a question is not filled in a second time by the kernel: %s',
  question => {
    expect(explainSource(question, trans)).not.toContain('{{');
  }
);

it('of a repair’s question the sentence is quoted, not the failed code', () => {
  const [, line] = explainSource("It failed: 'x'\n```python\ndf['x']\n```\nWrite it.", trans).split('\n');
  expect(line).toBe("Explain the result of “It failed: 'x'” in plain words.");
});
