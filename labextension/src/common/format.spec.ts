import { nullTranslator } from '@jupyterlab/translation';

import { formatBytes, formatSeconds, formatTime, formatTokens } from './format';

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [95_000_000, '90.6 MiB'],
  [200 * 2 ** 20, '200 MiB'],
  [3 * 2 ** 50, '3072 TiB']
])('%i bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it.each([
  [0.04, '0.0 s'],
  [59.94, '59.9 s'],
  [59.96, '1 min 0 s'],
  [119.7, '2 min 0 s'],
  [61, '1 min 1 s']
])('%d seconds are %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

it('of today only the hour is displayed, of other days the date too', () => {
  const now = new Date(2026, 10, 21, 12);
  expect(formatTime(now.getTime() / 1000 - 60, now)).not.toMatch(/2026/);
  expect(formatTime(now.getTime() / 1000 - 86_400, now)).toMatch(/2026/);
});

it('cached tokens are displayed only where there are some', () => {
  const trans = nullTranslator.load('x');
  expect(formatTokens(trans, { prompt_tokens: 5, completion_tokens: 2, estimated: true })).toBe(
    'about 5 tokens in · 2 out'
  );
  expect(formatTokens(trans, { prompt_tokens: 5, completion_tokens: 2, cached_tokens: 0 })).toBe(
    '5 tokens in · 2 out'
  );
  expect(formatTokens(trans, { prompt_tokens: 5, completion_tokens: 2, cached_tokens: 3 })).toBe(
    '5 tokens in (3 cached) · 2 out'
  );
});
