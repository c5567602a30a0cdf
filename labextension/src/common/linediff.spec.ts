import { lineDiff } from './linediff';

const shown = (before: string, after: string): string[] =>
  lineDiff(before, after).map(line => line.sign + line.text);

it('keeps what is the same, and shows what went before what came', () => {
  expect(shown('a\nb\nc\nd', 'a\nx\nc\ne')).toEqual([' a', '-b', '+x', ' c', '-d', '+e']);
});

it.each([
  ['', 'a', ['+a']],
  ['a', '', ['-a']],
  ['', '', []],
  ['a\r\nb', 'a\nb', [' a', ' b']],
  ['a\na', 'a\na\na', [' a', ' a', '+a']],
  ['x\ny', 'y', ['-x', ' y']]
])('%j to %j', (before, after, lines) => {
  expect(shown(before, after)).toEqual(lines);
});

it('leads from the one text to the other, whatever they are, also when they are very long', () => {
  const text = (seed: number, length: number): string =>
    Array.from({ length }, (_, i) => String((i * i * seed) % 7)).join('\n');
  for (const [seed, length] of [
    [3, 40],
    [5, 41],
    [2, 1500]
  ]) {
    const [before, after] = [text(seed, length), text(seed + 1, length + 3)];
    const lines = lineDiff(before, after);
    const without = (sign: string): string =>
      lines
        .filter(line => line.sign !== sign)
        .map(line => line.text)
        .join('\n');
    expect([without('+'), without('-')]).toEqual([before, after]);
  }
});
