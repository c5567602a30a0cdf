/** Which lines two programs share, in order. */
import { partsOf } from './commonlines';

export interface ILinePair {
  /** Null where only the other program has a line. */
  left: string | null;
  right: string | null;
}

/** Above this many the middle parts count as different: it would take too long to find out. */
const MAX_COMPARISONS = 4_000_000;

/** Equal lines are beside each other; between them what one has beside what the other has instead. */
export function pairLines(left: string, right: string): ILinePair[] {
  return partsOf(left.split('\n'), right.split('\n'), MAX_COMPARISONS).flatMap(part =>
    beside(part.left, part.right)
  );
}

function beside(a: readonly string[], b: readonly string[]): ILinePair[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => ({
    left: a[i] ?? null,
    right: b[i] ?? null
  }));
}

export interface ILine {
  /** Where only one of the programs has it. */
  only?: 'left' | 'right';
  text: string;
}

/** Below each other: of each difference first what the left program has. */
export function inOneColumn(pairs: readonly ILinePair[]): ILine[] {
  const lines: ILine[] = [];
  let waiting: ILine[] = [];
  for (const { left, right } of pairs) {
    if (left === right && left !== null) {
      lines.push(...waiting, { text: left });
      waiting = [];
      continue;
    }
    if (left !== null) {
      lines.push({ only: 'left', text: left });
    }
    if (right !== null) {
      waiting.push({ only: 'right', text: right });
    }
  }
  return [...lines, ...waiting];
}
