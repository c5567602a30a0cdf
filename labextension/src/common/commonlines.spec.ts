import { partsOf } from './commonlines';

const shown = (left: string, right: string, maxComparisons = 100): string[] =>
  partsOf([...left], [...right], maxComparisons)
    .map(part => (part.shared ? part.left.join('') : `${part.left.join('')}/${part.right.join('')}`))
    .filter(text => text !== '' && text !== '/');

it.each([
  ['abcd', 'axcy', ['a', 'b/x', 'c', 'd/y']],
  ['aa', 'aaa', ['aa', '/a']],
  ['axbyc', 'abc', ['a', 'x/', 'b', 'y/', 'c']],
  ['', 'a', ['/a']],
  ['ab', 'ab', ['ab']],
  ['', '', []]
])('%j and %j', (left, right, parts) => {
  expect(shown(left, right)).toEqual(parts);
});

it('takes what would need too many comparisons for different as a whole, but for beginning and end', () => {
  expect(shown('a12b3z', 'a4b56z', 16)).toEqual(['a', '12/4', 'b', '3/56', 'z']);
  expect(shown('a12b3z', 'a4b56z', 15)).toEqual(['a', '12b3/4b56', 'z']);
});
