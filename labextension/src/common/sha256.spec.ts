import { createHash } from 'node:crypto';

import { sha256 } from './sha256';

describe('sha256', () => {
  it.each(['', 'abc', 'x'.repeat(55), 'x'.repeat(56), 'x'.repeat(64), 'é😀'.repeat(1000)])(
    'agrees with the reference for text %#',
    text => {
      expect(sha256(text)).toBe(createHash('sha256').update(text, 'utf8').digest('hex'));
    }
  );
});
