/** Which lines two programs share, in order. */

export interface ILinePair {
  /** Null where only the other program has a line. */
  left: string | null;
  right: string | null;
}

/** Above this many pairs of lines the middle parts count as different: it would take too long to find out. */
const MAX_PAIRS = 4_000_000;

/** Equal lines stand beside each other; between them what one has beside what the other has instead. */
export function pairLines(left: string, right: string): ILinePair[] {
  const a = left.split('\n');
  const b = right.split('\n');
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) {
    start++;
  }
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) {
    end++;
  }
  const same = (line: string): ILinePair => ({ left: line, right: line });
  return [
    ...a.slice(0, start).map(same),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same)
  ];
}

function middle(a: readonly string[], b: readonly string[]): ILinePair[] {
  if (a.length * b.length > MAX_PAIRS) {
    return beside(a, b);
  }
  // common[i][j]: how many lines a[i:] and b[j:] share at the most.
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const pairs: ILinePair[] = [];
  let [i, j] = [0, 0];
  let [fromI, fromJ] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      pairs.push(...beside(a.slice(fromI, i), b.slice(fromJ, j)), { left: a[i++], right: b[j++] });
      [fromI, fromJ] = [i, j];
    } else if (common[i + 1][j] >= common[i][j + 1]) {
      i++;
    } else {
      j++;
    }
  }
  return [...pairs, ...beside(a.slice(fromI), b.slice(fromJ))];
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
