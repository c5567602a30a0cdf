/** The lines in which two texts differ. */
import { partsOf } from './commonlines';

export interface IDiffLine {
  sign: ' ' | '+' | '-';
  text: string;
}

/** Above this many the middle is displayed as replaced as a whole. */
const MAX_COMPARISONS = 1_000_000;

/** Unified: removed lines come before the lines that replace them. Line ends of Windows count as none. */
export function lineDiff(before: string, after: string): IDiffLine[] {
  const [a, b] = [before, after].map(text => (text ? text.split(/\r\n|\r|\n/) : []));
  const signed = (sign: IDiffLine['sign'], lines: readonly string[]): IDiffLine[] =>
    lines.map(text => ({ sign, text }));
  return partsOf(a, b, MAX_COMPARISONS).flatMap(({ shared, left, right }) =>
    shared ? signed(' ', left) : [...signed('-', left), ...signed('+', right)]
  );
}
