/** The words with which a cell or a result is handed to the agent: text for a new cell, pure. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { isCellId } from './magicline';

const MIN_ID_CHARS = 8;
const MAX_QUESTION_CHARS = 80;

/**
 * Repairs the cell of this id, whose failure the kernel knows. It is run at once: an id that is more than a name
 * would be code.
 */
export function fixSource(cellId: string, allIds: readonly string[]): string {
  if (!isCellId(cellId)) {
    throw new Error(`not the id of a cell: ${JSON.stringify(cellId.slice(0, 64))}`);
  }
  return `%agent fix ${shortId(cellId, allIds)}`;
}

/** The beginning of the id that no other cell shares. */
export function shortId(cellId: string, allIds: readonly string[]): string {
  const others = allIds.filter(id => id !== cellId);
  let length = MIN_ID_CHARS;
  while (length < cellId.length && others.some(id => id.startsWith(cellId.slice(0, length)))) {
    length++;
  }
  return cellId.slice(0, length);
}

export function explainSource(question: string, trans: TranslationBundle): string {
  return [
    '%%agent',
    trans.__('Explain the result of “%1” in plain words.', quoted(question)),
    trans.__('Print what it shows, how the code found it, and what to be careful about.')
  ].join('\n');
}

/** Ends where the user goes on writing. The id comes with the notebook, from anywhere, and must not end the line. */
export function askFromSource(runId: string): string {
  if (!/^\w{1,64}$/.test(runId)) {
    throw new Error(`not the id of a run: ${JSON.stringify(runId.slice(0, 64))}`);
  }
  return `%%agent --from ${runId}\n`;
}

/** One line; never an expression that the kernel would fill in. */
function quoted(question: string): string {
  // A repair's question goes on with the failed code.
  const words = question.split('```')[0].trim() || question;
  const line = words
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\{(?=\{)/g, '{ ');
  return line.length > MAX_QUESTION_CHARS ? `${line.slice(0, MAX_QUESTION_CHARS - 1)}…` : line;
}
