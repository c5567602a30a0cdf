/**
 * Text from another source in a cell that is then run: names, ids and recorded prompts may say anything. Pure.
 *
 * A `%%agent` cell is one line of options and a body; `{{…}}` in the body is evaluated in the user's kernel. So
 * nothing on the line may end it, and nothing that was only read becomes an expression.
 */

/** Whether a cell with this source asks the agent. */
export function isAgentCell(source: string): boolean {
  return /^%%agent\b/.test(source);
}

/** Whether a cell with this source asks the agent, or tells it to do something (`%agent explore`). */
export function isForAgent(source: string): boolean {
  return /^\s*%%?agent\b/.test(source);
}

/** What Python takes for the end of a line, and all else that cannot be seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** What was recorded of a line, as one line. */
export function oneLine(text: string): string {
  return text.replace(UNSEEN, ' ');
}

/** One word for the magic's line, as a shell quotes it. */
export function shellQuoted(word: string): string {
  const line = oneLine(word);
  return /^[\w@%+=:,./[\]-]+$/.test(line) ? line : `'${line.replace(/'/g, `'"'"'`)}'`;
}

/** A prompt as it was sent, with its `{{expressions}}` filled in: what looks like one now is text. */
export function escapeExpressions(prompt: string): string {
  return prompt.replace(/\{\{/g, '\\{{');
}

/** As nbformat asks for it. Jupyter only warns of others, and an id comes with the notebook, from anywhere. */
export function isCellId(id: string): boolean {
  return /^[\w-]{1,64}$/.test(id);
}
