/** The golden messages that Python's tests check too. */
import golden from '../../../tests/contract/messages.json';

import type {
  FromPage,
  IInsertMessage,
  IAskMessage,
  IMarkMessage,
  IStateMessage,
  ToPage
} from '../protocol/messages';
import type { IRun } from '../protocol/run';

const copy = (value: unknown): never => JSON.parse(JSON.stringify(value)) as never;

export const TO_PAGE: Record<ToPage['type'], object> = golden.to_page;
export const FROM_PAGE: Record<FromPage['type'], object> = golden.from_page;

/** Fresh copies, to be changed at will. */
export const stateMessage = (): IStateMessage => copy(golden.to_page.state);
export const insertMessage = (): IInsertMessage => copy(golden.to_page.insert);
export const markMessage = (): IMarkMessage => copy(golden.to_page.mark);
export const askMessage = (): IAskMessage => copy(golden.to_page.ask);
export const run = (changes: Partial<IRun> = {}): IRun =>
  Object.assign(copy(golden.to_page.run.run) as IRun, changes);
