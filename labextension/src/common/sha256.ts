/**
 * SHA-256 of a text as UTF-8, in hexadecimal (FIPS 180-4).
 *
 * Not `crypto.subtle`: that exists only in secure contexts, and many Jupyter servers are reached over plain http.
 */
export function sha256(text: string): string {
  const state = Uint32Array.from(primes(8), prime => fraction(Math.sqrt(prime)));
  const words = padded(new TextEncoder().encode(text));
  for (let start = 0; start < words.length; start += 16) {
    compress(state, words.subarray(start, start + 16));
  }
  return Array.from(state, word => word.toString(16).padStart(8, '0')).join('');
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) {
    if (found.every(prime => n % prime)) {
      found.push(n);
    }
  }
  return found;
}

/** The first 32 bits of the fractional part. */
function fraction(value: number): number {
  return ((value - Math.floor(value)) * 2 ** 32) >>> 0;
}

const ROUND = Uint32Array.from(primes(64), prime => fraction(Math.cbrt(prime)));

/** The message with a one bit, zeros and its length in bits, as big-endian words. */
function padded(bytes: Uint8Array): Uint32Array {
  const view = new DataView(new ArrayBuffer(((bytes.length + 72) >> 6) << 6));
  bytes.forEach((byte, i) => view.setUint8(i, byte));
  view.setUint8(bytes.length, 0x80);
  view.setUint32(view.byteLength - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(view.byteLength - 4, (bytes.length << 3) >>> 0);
  return Uint32Array.from({ length: view.byteLength / 4 }, (_, i) => view.getUint32(i * 4));
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function compress(state: Uint32Array, block: Uint32Array): void {
  const w = new Uint32Array(64);
  w.set(block);
  for (let i = 16; i < 64; i++) {
    const s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >>> 3);
    const s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >>> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUND[i] + w[i]) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i] += value));
}
