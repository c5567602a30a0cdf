/** The lines in which two texts differ. */
export interface IDiffLine {
  sign: ' ' | '+' | '-';
  text: string;
}

/** Above this many comparisons the middle is shown as replaced as a whole. */
const MAX_CELLS = 1_000_000;

/** Unified: what was taken away stands before what came in its place. Line ends of Windows count as none. */
export function lineDiff(before: string, after: string): IDiffLine[] {
  const [a, b] = [before, after].map(text => (text ? text.split(/\r\n|\r|\n/) : []));
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    start++;
  }
  let end = 0;
  while (
    end < a.length - start &&
    end < b.length - start &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  ) {
    end++;
  }
  const same = (lines: string[]): IDiffLine[] => lines.map(text => ({ sign: ' ', text }));
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end))
  ];
}

function middle(a: string[], b: string[]): IDiffLine[] {
  const removed = (lines: string[]): IDiffLine[] => lines.map(text => ({ sign: '-', text }));
  const added = (lines: string[]): IDiffLine[] => lines.map(text => ({ sign: '+', text }));
  if (a.length * b.length > MAX_CELLS) {
    return [...removed(a), ...added(b)];
  }
  // longest[i][j]: length of the longest common part of a from i and b from j.
  const longest = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i][j] =
        a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const lines: IDiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ sign: ' ', text: a[i++] });
      j++;
    } else if (longest[i + 1][j] >= longest[i][j + 1]) {
      lines.push({ sign: '-', text: a[i++] });
    } else {
      lines.push({ sign: '+', text: b[j++] });
    }
  }
  return [...lines, ...removed(a.slice(i)), ...added(b.slice(j))];
}
