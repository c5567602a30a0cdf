import { Notification } from '@jupyterlab/apputils';
import { Signal } from '@lumino/signaling';
import React from 'react';

import type { IMissingResult } from '../../history/runcells';
import { run } from '../../testing/golden';
import { notebookOf, panelOf } from '../../testing/notebooks';
import { press, render, servicesOf, unmount } from '../../testing/render';
import { Run } from '../run/run';
import { Missing } from './missing';

afterEach(unmount);

const panel = panelOf(notebookOf('%%agent\none'));
const lost = (...ids: string[]): IMissingResult[] =>
  ids.map(id => ({ id, prompt: `question ${id}`, cellId: 'cell-0' }));
let done: unknown[][];

/** What the panel shows where these results are not in the notebook; `recorded` are in the history. */
async function shown(missing: IMissingResult[], recorded: object[] = []): Promise<HTMLElement> {
  done = [];
  const changed = new Signal<object, void>({});
  return render(
    <Missing panel={panel} />,
    servicesOf({
      cellStates: { changed, missing: () => missing, isRecorded: () => true },
      historyActions: {
        insertAgain: async (result: IMissingResult) => void done.push(['insert', result.id])
      },
      decisions: { discardMissing: (_: unknown, id: string) => void done.push(['discard', id]) },
      history: { get: async (id: string) => Object.assign(run({ id }), recorded[0]) }
    })
  );
}

it('where nothing is missing nothing is said', async () => {
  expect((await shown([])).textContent).toBe('');
});

it('a result shows its question and what it found, and comes back by one press', async () => {
  const outputs = [{ output_type: 'stream', name: 'stdout', text: '<b>61</b> rows' }];
  const host = await shown(lost('a'), [{ outputs, answer: 'There are <i>61</i>.' }]);
  const card = host.querySelector('li')!;
  expect(card.querySelector('.jp-CodeAgent-itemQuestion')!.textContent).toBe('question a');
  expect(card.querySelector('pre')!.textContent).toBe('<b>61</b> rows');
  expect(card.querySelector('.jp-CodeAgent-answer')!.textContent).toBe('There are <i>61</i>.');
  expect(card.querySelectorAll('b, i')).toHaveLength(0);
  await press(host, 'Insert again');
  await press(host, 'Discard');
  expect(done).toEqual([
    ['insert', 'a'],
    ['discard', 'a']
  ]);
});

it('of many the newest three are displayed, and all are inserted in the order in which they were asked', async () => {
  const host = await shown(lost('1', '2', '3', '4', '5'));
  const questions = [...host.querySelectorAll('.jp-CodeAgent-itemQuestion')].map(node => node.textContent);
  expect(questions).toEqual(['question 5', 'question 4', 'question 3']);
  expect(host.querySelector('summary')!.textContent).toBe('2 more');
  await press(host, 'Insert all again');
  expect(done.map(([, id]) => id)).toEqual(['1', '2', '3', '4', '5']);
  await press(host, 'Discard all');
  expect(done.slice(5).map(([what]) => what)).toEqual(Array(5).fill('discard'));
});

it('what cannot be inserted is reported', async () => {
  vi.spyOn(console, 'error').mockReturnValueOnce(undefined);
  const error = vi.spyOn(Notification, 'error').mockReturnValue('');
  const fails = { insertAgain: () => Promise.reject(new Error('the notebook is read-only')) };
  const cellStates = { changed: new Signal({}), missing: () => lost('a'), isRecorded: () => false };
  const host = await render(<Missing panel={panel} />, servicesOf({ historyActions: fails, cellStates }));
  await press(host, 'Insert again');
  expect(error.mock.calls[0][0]).toContain('“Insert again” failed: the notebook is read-only');
  error.mockRestore();
});

describe('at its run', () => {
  const draw = (isGone: boolean, canInsert: boolean): Promise<HTMLElement> => {
    done = [];
    const cellStates = { changed: new Signal({}), stateOf: () => 'accepted', canReinsert: () => isGone };
    const insertAgain = async (result: IMissingResult): Promise<void> => void done.push([result]);
    const services = servicesOf({ cellStates, historyActions: { insertAgain } });
    return render(<Run run={run({ id: 'a' })} canInsert={canInsert} />, services);
  };

  it('a result that is gone can be had again, quietly', async () => {
    const host = await draw(true, true);
    expect(host.textContent).toContain('Its cells are not in the notebook.');
    await press(host, 'Insert again');
    const { prompt, cell_id } = run().request;
    expect(done).toEqual([[{ id: 'a', prompt, cellId: cell_id }]]);
  });

  it('nothing is said of one that is there, or on a page that has other buttons for it', async () => {
    expect((await draw(false, true)).textContent).not.toContain('not in the notebook');
    await unmount();
    expect((await draw(true, false)).textContent).not.toContain('not in the notebook');
  });
});
