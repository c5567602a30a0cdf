/** A model's reply while it grows: what is prose and what is code. */

export interface IReply {
  /** What the model wrote around the code; thoughts of reasoning models too. */
  prose: string;
  /** Text of the code block, as far as it has come. */
  code: string;
}

const OPENING = /^[ \t]*(```|~~~)[^\n`]*(\n|$)/m;

/**
 * Split at the fences. A reply that has none is code where the kernel began the block itself (`prefill`), which
 * shows in that it begins like a statement; else it is prose.
 */
export function splitReply(text: string): IReply {
  const opening = OPENING.exec(text);
  if (!opening) {
    return looksLikeCode(text) ? { prose: '', code: text } : { prose: text.trim(), code: '' };
  }
  const before = text.slice(0, opening.index);
  const rest = text.slice(opening.index + opening[0].length);
  const closing = new RegExp(`^[ \\t]*${opening[1]}[ \\t]*$`, 'm').exec(rest);
  if (looksLikeCode(before)) {
    // The reply was prefilled with the start of the block: the first fence it writes itself is the end.
    return { prose: rest.trim(), code: before };
  }
  const [code, after] = closing
    ? [rest.slice(0, closing.index), rest.slice(closing.index + closing[0].length)]
    : [rest, ''];
  return { prose: [before.trim(), after.trim()].filter(Boolean).join('\n\n'), code };
}

const STATEMENT =
  /^\s*(#|@|import\s|from\s+\S+\s+import\s|(async\s+)?(def|class|for|while|if|with|try)\b|print\(|[\w.[\]'", ]+\s*[-+*/%|&]?=[^=]|[A-Za-z_][\w.]*(\[|\(|\.[A-Za-z_]))/;

function looksLikeCode(text: string): boolean {
  const first = text.split('\n').find(line => line.trim() !== '') ?? '';
  return STATEMENT.test(first);
}

/** About as many tokens as a model needs for it: four characters each, as for English and code. */
export function roughTokens(text: string): number {
  return Math.round(text.length / 4);
}
