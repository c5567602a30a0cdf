/** Code as a person has to see it who decides: `outputs/code.py` has the same for the kernel. */

/** Controls but tab and newline, line separators, marks that reorder (CVE-2021-42574), tags, lone surrogates. */
const DECEIVING =
  // eslint-disable-next-line no-control-regex
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}\ud800-\udfff]/gu;

/** With characters that make it look other than it is spelled out: `<U+202E>`. */
export function visibleCode(code: string): string {
  return code.replace(DECEIVING, found => {
    const number = found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
    return `<U+${number}>`;
  });
}
