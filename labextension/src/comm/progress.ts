/** The text of a run under way, put together from its parts. */
import type { IProgressMessage } from '../protocol/messages';

/** With the whole text. */
export interface IProgress extends Omit<IProgressMessage, 'offset'> {
  /** `Date.now()` of this page when it arrived: the clocks of kernel and browser may differ. */
  receivedAt: number;
}

/** Whether the part goes on from what is known, or is the whole; else something was lost on the way. */
export function follows(known: IProgress | undefined, part: IProgressMessage): boolean {
  return part.offset === 0 || (known?.stream === part.stream && known.text.length >= part.offset);
}

/** Of a part that follows. */
export function extended(known: IProgress | undefined, part: IProgressMessage, nowMs: number): IProgress {
  const { offset, ...progress } = part;
  const text = (known?.text.slice(0, offset) ?? '') + part.text;
  return { ...progress, text, receivedAt: nowMs };
}

/** The kernel's count, carried on by this page's clock: the two clocks may differ. */
export function elapsedSeconds(progress: IProgress, nowMs: number): number {
  return progress.elapsed_s + Math.max(0, nowMs - progress.receivedAt) / 1000;
}
