/** Outputs as the panel shows them: of a long text its beginning and how much more there is. No DOM in here. */
import type { IOutput } from '@jupyterlab/nbformat';
import type { TranslationBundle } from '@jupyterlab/translation';

/** About 250 lines: the cells have the rest. A page that wraps one line of 200,000 characters freezes. */
const MAX_CHARS = 20_000;

export function truncated(
  outputs: readonly IOutput[],
  trans: TranslationBundle,
  limit = MAX_CHARS
): IOutput[] {
  const cut = (value: unknown): string => {
    const text = joined(value);
    return text.length > limit
      ? `${whole(text, limit)}\n${trans.__('… %1 more characters', (text.length - limit).toLocaleString())}`
      : text;
  };
  return outputs.map(output => {
    if (output.output_type === 'stream') {
      return { ...output, text: cut(output.text) };
    }
    const data = output.data as Record<string, unknown> | undefined;
    if (!data) {
      return output;
    }
    const kept = { ...data };
    if ('text/plain' in kept) {
      kept['text/plain'] = cut(kept['text/plain']);
      // Half a table is no HTML: its text has the same content.
      if (joined(kept['text/html']).length > 5 * limit) {
        delete kept['text/html'];
      }
    }
    return { ...output, data: kept } as IOutput;
  });
}

/** Notebook files may have a list of lines instead of a text. */
function joined(value: unknown): string {
  return Array.isArray(value) ? value.join('') : typeof value === 'string' ? value : '';
}

/** Not half of a character that takes two code units. */
function whole(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}
