import { Notification } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import React from 'react';

import type { Keys } from '../../cells/pendingbar';
import { pendingBar } from '../../cells/pendingbar';
import { pendingBlocks } from '../../notebook/blocks';
import { pendingRuns } from '../../notebook/cellstates';
import { insertCells } from '../../notebook/insertion';
import { run } from '../../testing/golden';
import { cellsOf, notebookOf, panelOf } from '../../testing/notebooks';
import { press, render, servicesOf, unmount } from '../../testing/render';
import { Pending } from './pending';

afterEach(unmount);

const notebook = notebookOf('%%agent\none');
insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('r') });

async function list(changes: object): Promise<HTMLElement> {
  return render(<Pending panel={panelOf(notebook)} runs={pendingRuns(notebook)} />, servicesOf(changes));
}

it('a pending run has the words and the order of the bar on its cell', async () => {
  const nothing = (): void => undefined;
  const { node } = pendingBar(nullTranslator.load('x'), pendingBlocks(notebook).get('r-code')!, {
    ...{
      accept: nothing,
      edit: nothing,
      discard: nothing,
      apply: nothing,
      showVersion: nothing,
      compareVersions: nothing
    }
  });
  const words = (buttons: Iterable<Element>): unknown[] =>
    [...buttons].map(button => [button.textContent, button.getAttribute('title')]);
  const host = await list({});
  expect(words(host.querySelectorAll('li .jp-CodeAgent-buttons button'))).toEqual(
    words(node.querySelectorAll('button'))
  );
});

it('what is pressed is decided about this run, and run is its code', async () => {
  const done: unknown[][] = [];
  const record =
    (what: string) =>
    (_: unknown, ...about: unknown[]): void =>
      void done.push([what, ...about]);
  const names = ['accept', 'apply', 'edit', 'discard', 'reveal', 'revealPending'];
  const decisions = Object.fromEntries(names.map(name => [name, record(name)]));
  const host = await list({ decisions });
  for (const name of ['Accept', 'Accept & run', 'Edit', 'Discard', 'Next pending cell']) {
    await press(host, name);
  }
  expect(done).toEqual([
    ['accept', 'r'],
    ['apply', 'r-code'],
    ['edit', 'r-code'],
    ['discard', ['r']],
    ['revealPending', 1]
  ]);
});

it.each(['Accept & run', 'Edit', 'Next pending cell'])('%s that fails notifies the user', async name => {
  vi.spyOn(console, 'error').mockReturnValueOnce(undefined);
  const error = vi.spyOn(Notification, 'error').mockReturnValue('');
  const fails = (): Promise<never> => Promise.reject(new Error('the kernel is dead'));
  const host = await list({ decisions: { apply: fails, edit: fails, revealPending: fails } });
  await press(host, name);
  expect(error.mock.calls[0][0]).toContain(`“${name}” failed: the kernel is dead`);
  error.mockRestore();
});

it('the keys of the review are named as they are bound, and left out where there are none', async () => {
  const bound = { next: 'F8', previous: '', accept: 'Ctrl+F8', discard: '', refine: '' };
  const keys: Keys = command => bound[command];
  const host = await list({ keys });
  const named = [...host.querySelectorAll('kbd')].map(key => key.textContent);
  expect(named).toEqual(['F8', 'Ctrl+F8']);
  const titles = [...host.querySelectorAll('header button')].map(button => button.getAttribute('title'));
  expect(titles).toEqual(['Previous pending cell', 'Next pending cell (F8)']);
  await unmount();
  expect((await list({})).querySelector('.jp-CodeAgent-reviewKeys')).toBeNull();
});

describe('what a card shows of a result', () => {
  const recorded = (changes: object): Promise<HTMLElement> => {
    const outputs = [{ output_type: 'display_data', data: { 'image/png': 'iVBORw==' }, metadata: {} }];
    const known = run({ id: 'r', code: 'run_r()', outputs, answer: 'It is <b>so</b>.', ...changes });
    const model = { state: { runs: [known] } };
    return list({ connections: { current: { model }, changed: new Signal({}) } });
  };

  it('is its question, its first output, its sentence, and its code behind a fold', async () => {
    const host = await recorded({});
    expect(host.querySelector('.jp-CodeAgent-itemQuestion')!.textContent).toBe(run().request.prompt);
    expect(host.querySelector('img')!.getAttribute('src')).toBe('data:image/png;base64,iVBORw==');
    expect(host.querySelector('.jp-CodeAgent-answer')!.textContent).toBe('It is <b>so</b>.');
    expect(host.querySelector('b')).toBeNull();
    expect(host.querySelector('summary')!.textContent).toBe('run_r()');
    expect(host.querySelector('pre')).toBeNull();
  });

  it('is the cell alone where its record is of other code: anybody may have written into the notebook', async () => {
    const host = await recorded({ code: 'something_else()' });
    expect(host.querySelector('img, .jp-CodeAgent-answer')).toBeNull();
    expect(host.querySelector('li code')!.textContent).toBe('run_r()');
  });

  it('is the cell alone where nobody has a record: none is asked for', async () => {
    const get = vi.fn();
    const host = await list({ history: { get } });
    expect(host.querySelector('li code')!.textContent).toBe('run_r()');
    expect(get).not.toHaveBeenCalled();
  });
});
