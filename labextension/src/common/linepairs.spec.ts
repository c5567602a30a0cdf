import { inOneColumn, pairLines } from './linepairs';

it('sets equal lines beside each other, and between them what each has instead', () => {
  const pairs = pairLines('import a\nx = 1\ny = 2\nprint(x)', 'import a\nx = 3\nprint(x)\nprint(y)');
  expect(pairs).toEqual([
    { left: 'import a', right: 'import a' },
    { left: 'x = 1', right: 'x = 3' },
    { left: 'y = 2', right: null },
    { left: 'print(x)', right: 'print(x)' },
    { left: null, right: 'print(y)' }
  ]);
  expect(inOneColumn(pairs).map(line => `${line.only ?? ''} ${line.text}`)).toEqual([
    ' import a',
    'left x = 1',
    'left y = 2',
    'right x = 3',
    ' print(x)',
    'right print(y)'
  ]);
});

it.each([
  ['a\nb\nc', 'a\nb\nc'],
  ['', 'x'],
  ['a\na\nb', 'b\na\na'],
  [
    Array.from({ length: 2100 }, (_, i) => `l${i}`).join('\n'),
    Array.from({ length: 2100 }, (_, i) => `r${i}`).join('\n')
  ]
])('loses no line and keeps their order (%#)', (left, right) => {
  const pairs = pairLines(left, right);
  expect(pairs.flatMap(pair => pair.left ?? []).join('\n')).toBe(left);
  expect(pairs.flatMap(pair => pair.right ?? []).join('\n')).toBe(right);
});
