/** The beginning of a result, as far as it fits into a card: from the record, whose outputs are cleaned. No DOM. */
import type { IOutput } from '@jupyterlab/nbformat';

export type Preview =
  | { kind: 'image'; src: string }
  /** `more`: lines that are left out. */
  | { kind: 'text'; text: string; more: number };

const IMAGES = ['image/png', 'image/jpeg'];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const LINES = 5;
/** Above the rows of a table: the line of its columns, and the name of its index. */
const HEAD_LINES = 2;
/** polars: shape, frame, columns, a line, types, another line. */
const FRAMED_HEAD_LINES = 6;
const MAX_CHARS = 4000;

/** The first picture or table; where there is none, the first text that was printed. Null: nothing to see. */
export function previewOf(outputs: readonly IOutput[]): Preview | null {
  const results = outputs.map(ofResult).find(preview => preview !== null);
  return results ?? outputs.map(ofStream).find(preview => preview !== null) ?? null;
}

function ofResult(output: IOutput): Preview | null {
  const data = output.data as Record<string, unknown> | undefined;
  if (!data || !['display_data', 'execute_result'].includes(output.output_type)) {
    return null;
  }
  for (const type of IMAGES) {
    const encoded = joined(data[type]).replace(/\s/g, '');
    if (BASE64.test(encoded)) {
      return { kind: 'image', src: `data:${type};base64,${encoded}` };
    }
  }
  const text = joined(data['text/plain']);
  const isTable = 'text/html' in data;
  const head = !isTable ? 0 : text.startsWith('shape: (') ? FRAMED_HEAD_LINES : HEAD_LINES;
  return beginningOf(text, head + LINES);
}

function ofStream(output: IOutput): Preview | null {
  return output.output_type === 'stream' && output.name === 'stdout'
    ? beginningOf(joined(output.text), LINES)
    : null;
}

function beginningOf(text: string, count: number): Preview | null {
  const lines = text.replace(/\s+$/, '').split('\n');
  const cut = lines.slice(0, count).join('\n').slice(0, MAX_CHARS);
  return cut.trim() ? { kind: 'text', text: cut, more: Math.max(0, lines.length - count) } : null;
}

/** Notebook files may have a list of lines instead of a text. */
function joined(value: unknown): string {
  return Array.isArray(value) ? value.join('') : typeof value === 'string' ? value : '';
}
