import { arrayOf, either, nullable, number, oneOf, optional, shape, string } from './checks';

it.each([
  ['null is no object', shape({}), null, false],
  ['an array is no object', shape({}), [], false],
  ['unknown keys are allowed', shape({ a: number }), { a: 1, b: 2 }, true],
  ['a missing key is not', shape({ a: number }), { b: 2 }, false],
  ['null where it may be', shape({ a: nullable(number) }), { a: null }, true],
  ['missing is not null', shape({ a: nullable(number) }), {}, false],
  ['missing where it may be', shape({ a: optional(number) }), {}, true],
  ['one wrong item', arrayOf(string), ['a', 1], false],
  ['no item', arrayOf(string), [], true],
  ['an array-like object', arrayOf(string), { length: 0 }, false],
  ['one of two', either(string, arrayOf(string)), ['a'], true],
  ['none of two', either(string, arrayOf(string)), 1, false],
  ['a word of the list', oneOf('a', 'b'), 'b', true],
  ['another word', oneOf('a', 'b'), 'c', false]
])('%s', (_, check, value, expected) => {
  expect(check(value)).toBe(expected);
});
