/** The `%%agent` cell that asks a recorded question again, of another model: text in, text out. */
import type { IRun } from '../protocol/run';
import { escapeExpressions, oneLine, shellQuoted } from './magicline';

export interface IAskedAgain {
  /** Forget the conversation first. */
  fresh: boolean;
  /** The cell as it is in the notebook, if it is still there. */
  original?: string;
}

/**
 * Its first line keeps what the user wrote there, but for the model and where it is, and for what would decide without
 * the user. Without the cell, the record has which variables, columns and rows were chosen, or else the variables that
 * the run had; and always what was stricter than by default.
 */
export function cellToAskAgain(run: IRun, model: string, options: IAskedAgain): string {
  const [first = ''] = (options.original ?? '').split('\n', 1);
  const written = /^%%agent(\s.*)?$/.exec(first)?.[1]?.trim();
  const kept = (written ?? oneLine(run.request.selection ?? ''))
    .replace(/(^|\s)--(model|base-url)(\s+|=)('[^']*'|"[^"]*"|\S+)/g, '')
    .replace(/(^|\s)--approve(\s+|=)auto(?=\s|$)/g, '')
    .replace(/(^|\s)--new(?=\s|$)/g, '');
  const copied = run.manifest.copied.map(item => item.name);
  const line = [
    '%%agent',
    `--model ${shellQuoted(model)}`,
    options.fresh ? '--new' : '',
    kept.trim(),
    written === undefined && copied.length > 0 && !/^--vars\b/.test(kept)
      ? `--vars ${shellQuoted(copied.join(','))}`
      : '',
    run.request.privacy === 'schema' && !kept.includes('--privacy') ? '--privacy schema' : '',
    run.request.approve === 'ask' && !kept.includes('--approve') ? '--approve ask' : ''
  ];
  return `${line.filter(Boolean).join(' ')}\n${escapeExpressions(run.request.prompt)}`;
}
