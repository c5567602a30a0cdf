import { Notification } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';

import type { ICommandsOptions } from '../commands';
import { addCommands, CommandIDs } from '../commands';
import { insertCells } from '../notebook/insertion';
import { cellsOf, notebookOf, panelOf, trackerOf } from '../testing/notebooks';
import { attempt } from './attempt';

const trans = nullTranslator.load('x');
const displayed = (): string[] => Notification.manager.notifications.map(one => one.message);

beforeEach(() => vi.spyOn(console, 'error').mockReturnValue(undefined));
afterEach(() => {
  Notification.dismiss();
  vi.restoreAllMocks();
});

it.each([
  ['later', () => Promise.reject(new Error('the kernel is dead'))],
  [
    'at once',
    () => {
      throw new Error('the kernel is dead');
    }
  ],
  ['with a text', () => Promise.reject('the kernel is dead')]
])(
  'a failure %s is displayed with what it was and what to do, once until it is taken away',
  async (_, act) => {
    await attempt(trans, 'Explain', act);
    await attempt(trans, 'Explain', act);
    expect(displayed()).toEqual([
      '“Explain” failed: the kernel is dead — Try again. If it fails again, save your notebooks and reload the page.'
    ]);
    Notification.dismiss();
    await attempt(trans, 'Explain', act);
    expect(displayed()).toHaveLength(1);
  }
);

it('what succeeds says nothing', async () => {
  await attempt(trans, 'Explain', () => Promise.resolve(1));
  expect(displayed()).toEqual([]);
});

it('a command that fails says so and leaves no rejection to its key', async () => {
  const notebook = notebookOf('%%agent\none');
  insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('r') });
  const commands = new CommandRegistry();
  addCommands({
    ...{ commands, trans, tracker: trackerOf(panelOf(notebook)) },
    decisions: { revealPending: () => Promise.reject(new Error('no such cell')) }
  } as unknown as ICommandsOptions);
  await commands.execute(CommandIDs.next);
  expect(displayed()).toEqual([expect.stringContaining('“Go to Next Pending Cell” failed: no such cell')]);
});
