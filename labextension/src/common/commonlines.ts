/** What two texts share, line by line, and what each has in between. Pure. */

/** Lines that both have, or what one has where the other has something else; either side may then be empty. */
export interface IPart {
  shared: boolean;
  left: readonly string[];
  right: readonly string[];
}

/**
 * The two texts from top to bottom, with as many lines in common as there can be.
 *
 * To find out takes a comparison of each line of the one with each of the other. Where the parts between common
 * beginnings and ends would need more than `maxComparisons`, they count as different as a whole.
 */
export function partsOf(left: readonly string[], right: readonly string[], maxComparisons: number): IPart[] {
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) {
    start++;
  }
  let end = 0;
  while (end < shorter - start && left[left.length - 1 - end] === right[right.length - 1 - end]) {
    end++;
  }
  const same = (lines: readonly string[]): IPart => ({ shared: true, left: lines, right: lines });
  return [
    same(left.slice(0, start)),
    ...middle(left.slice(start, left.length - end), right.slice(start, right.length - end), maxComparisons),
    same(left.slice(left.length - end))
  ];
}

function middle(a: readonly string[], b: readonly string[], maxComparisons: number): IPart[] {
  if (a.length * b.length > maxComparisons) {
    return [{ shared: false, left: a, right: b }];
  }
  // longest[i][j]: how many lines a from i and b from j share at the most.
  const longest = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i][j] =
        a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const parts: IPart[] = [];
  let [i, j] = [0, 0];
  let [fromI, fromJ] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      parts.push({ shared: false, left: a.slice(fromI, i), right: b.slice(fromJ, j) });
      parts.push({ shared: true, left: [a[i++]], right: [b[j++]] });
      [fromI, fromJ] = [i, j];
    } else if (longest[i + 1][j] >= longest[i][j + 1]) {
      i++;
    } else {
      j++;
    }
  }
  return [...parts, { shared: false, left: a.slice(fromI), right: b.slice(fromJ) }];
}
