import { HistoryActions } from '../../history/actions';
import type { IRunFilter, IRunLine } from '../../history/client';
import { RunList } from '../../history/runlist';
import { run } from '../../testing/golden';
import { change, choose, enter, eventually, press, render, servicesOf, unmount } from '../../testing/render';
import React, { useState } from 'react';

import { Comparison } from './comparison';
import { History } from './history';
import { HistoryFilters } from './historyfilters';

afterEach(unmount);

const line = (id: string): IRunLine => ({
  ...{ id, prompt: `prompt ${id}`, notebook: 'a/b.ipynb', cell_id: null, model: 'm' },
  ...{ status: 'ok' as const, started_at: 1, ended_at: 2, steps: 1, prompt_tokens: 1, completion_tokens: 1 },
  ...{ cell_state: 'pending' as const, error: '' }
});
const all = Array.from({ length: 35 }, (_, i) => line(`r${i}`));
const found = ({ search = '', outcome }: IRunFilter): IRunLine[] =>
  all.filter(one => one.prompt.includes(search) && (!outcome || one.cell_state === outcome));
const store = {
  list: async ({ limit = 30, offset = 0, ...filter }: IRunFilter & { limit?: number; offset?: number }) => ({
    total: found(filter).length,
    runs: found(filter).slice(offset, offset + limit)
  }),
  overview: async (filter: IRunFilter) => ({
    times: found(filter).map(() => 1),
    notebooks: [{ name: 'a/b.ipynb', count: 35 }],
    models: [{ name: 'm', count: 35 }],
    outcomes: [{ name: 'pending', count: 35 }]
  }),
  get: async (id: string) =>
    run({
      id,
      ...({
        decisions: [
          { at: 1, what: 'edited', by: 'panel', code: '' },
          { at: 2, what: 'applied', by: 'panel', code: 'as_edited()' }
        ]
      } as object)
    })
};

async function history(changes = {}): Promise<HTMLElement> {
  const services = servicesOf({ history: { ...store, ...changes } });
  services.runs = new RunList(services.history);
  services.historyActions = new HistoryActions({
    ...services,
    frontEnd: { openDocument: () => Promise.resolve(), showComparison: () => false }
  });
  const host = await render(<History version={0} />, services);
  await change(() => new Promise(resolve => setTimeout(resolve, 0)));
  return host;
}

const box = (host: HTMLElement): HTMLElement => host.querySelector<HTMLElement>('[role=listbox]')!;
const options = (host: HTMLElement): number => host.querySelectorAll('[role=option]').length;
const key = (host: HTMLElement, name: string): Promise<void> =>
  change(() => box(host).dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true })));

it('says how many there are, and the choices say how many they would show', async () => {
  const host = await history();
  await eventually(() => expect(host.querySelector('[role=status]')?.textContent).toBe('35 runs'));
  expect(host.querySelector('[role=option]')?.getAttribute('aria-setsize')).toBe('35');
  const choices = [...host.querySelectorAll('option')].map(option => option.textContent);
  expect(choices).toContain('a/b.ipynb (35)');
  expect(choices).toContain('cells pending (35)');
});

it('a search narrows the list, marks what was found, and can be taken back', async () => {
  const host = await history();
  await enter(host.querySelector('input')!, 'r34');
  await eventually(() => expect(host.querySelector('mark')?.textContent).toBe('r34'));
  expect(options(host)).toBe(1);
  await enter(host.querySelector('input')!, 'nothing like it');
  await eventually(() => expect(host.textContent).toContain('No runs match.'));
  await press(host, 'Show all runs');
  await eventually(() => expect(host.querySelector('[role=status]')?.textContent).toBe('35 runs'));
});

it('the keys move through the list and open a run, and back leads to the same position', async () => {
  const host = await history();
  await eventually(() => expect(options(host)).toBeGreaterThan(3));
  await key(host, 'ArrowDown');
  await key(host, 'ArrowDown');
  expect(box(host).getAttribute('aria-activedescendant')).toBe(
    host.querySelector('[aria-selected=true]')!.id
  );
  await key(host, 'Enter');
  await eventually(() => expect(host.textContent).toContain('Insert again'));
  expect(host.textContent).toContain('edited in JupyterLab');
  expect(host.textContent).toContain('run in your kernel in JupyterLab');
  expect(host.querySelector('.jp-CodeAgent-decided pre')!.textContent).toBe('as_edited()');
  await press(host, 'All runs');
  await eventually(() => expect(document.activeElement).toBe(box(host)));
  expect(host.querySelector('[aria-selected=true]')!.getAttribute('aria-posinset')).toBe('3');
});

it('a search typed after a visit to a run keeps the keyboard, also where it finds nothing for a moment', async () => {
  const host = await history();
  await eventually(() => expect(options(host)).toBeGreaterThan(3));
  await key(host, 'Enter');
  await eventually(() => expect(host.textContent).toContain('Insert again'));
  await press(host, 'All runs');
  await eventually(() => expect(document.activeElement).toBe(box(host)));
  const field = host.querySelector('input')!;
  field.focus();
  await enter(field, 'nothing like it');
  await eventually(() => expect(host.textContent).toContain('No runs match.'));
  await enter(field, 'r34');
  await eventually(() => expect(options(host)).toBe(1));
  expect(document.activeElement).toBe(field);
});

it('what is typed before the list has followed the last search is kept', async () => {
  const searched: (string | undefined)[] = [];
  let follow: (filter: IRunFilter) => void = () => undefined;
  function Slow(): JSX.Element {
    const [filter, setFilter] = useState<IRunFilter>({});
    follow = setFilter;
    const here = { notebook: '', on: false, onChange: () => undefined };
    const onChange = ({ search }: IRunFilter): void => void searched.push(search);
    return <HistoryFilters filter={filter} overview={null} onChange={onChange} here={here} />;
  }
  const field = (await render(<Slow />)).querySelector('input')!;
  await enter(field, 'r3');
  await eventually(() => expect(searched).toEqual(['r3']));
  await enter(field, 'r34');
  await change(() => follow({ search: 'r3' }));
  expect(field.value).toBe('r34');
  await change(() => follow({}));
  expect(field.value).toBe(''); // all runs are shown again
});

it('a run takes the keyboard when it is opened, not when its tab is reached', async () => {
  const services = servicesOf({ history: store });
  services.runs = new RunList(services.history);
  services.historyActions = new HistoryActions({
    ...services,
    frontEnd: { openDocument: () => Promise.resolve(), showComparison: () => false }
  });
  services.runs.view = { kind: 'run', id: 'r1' };
  const host = await render(<History version={0} />, services);
  await eventually(() => expect(host.textContent).toContain('Insert again'));
  expect(document.activeElement).toBe(document.body);
  await press(host, 'All runs');
  await eventually(() => expect(document.activeElement).toBe(box(host)));
  await key(host, 'Enter');
  await eventually(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('All runs'));
});

it('says what the server said, and tries again when asked', async () => {
  let broken = true;
  const overview = (filter: IRunFilter): ReturnType<typeof store.overview> =>
    broken ? Promise.reject(new Error('The history is damaged.')) : store.overview(filter);
  const host = await history({ overview });
  await eventually(() =>
    expect(host.querySelector('[role=alert]')?.textContent).toContain('The history is damaged.')
  );
  broken = false;
  await press(host, 'Try again');
  await eventually(() => expect(options(host)).toBeGreaterThan(3));
});

it('all runs are deleted only after a yes that says how many', async () => {
  const deleted: string[] = [];
  const host = await history({ deleteAll: async () => deleted.push('all') });
  await eventually(() => expect(options(host)).toBeGreaterThan(3));
  const answer = async (name: string): Promise<void> => {
    await press(host, 'Delete all …');
    await vi.waitFor(() => expect(document.querySelector('.jp-Dialog')).not.toBeNull());
    const dialog = document.querySelector<HTMLElement>('.jp-Dialog')!;
    expect(dialog.textContent).toContain('Delete all 35 runs of all notebooks?');
    await press(dialog, name);
    await vi.waitFor(() => expect(document.querySelector('.jp-Dialog')).toBeNull());
  };
  await answer('Cancel');
  expect(deleted).toEqual([]);
  await answer('Delete');
  await vi.waitFor(() => expect(deleted).toEqual(['all']));
});

it('where there is no main area, two runs are compared in the panel', async () => {
  const host = await history();
  await eventually(() => expect(options(host)).toBeGreaterThan(3));
  await key(host, 'Enter');
  await eventually(() => expect(host.textContent).toContain('Insert again'));
  await choose(host, 'Compare with …');
  await eventually(() => expect(host.textContent).toContain('Choose the run to compare with'));
  await key(host, 'End');
  await key(host, 'Enter');
  await eventually(() => expect(host.textContent).toContain('Both have the same code.'));
});

it('a comparison marks the lines that only one of the runs has', async () => {
  const get = async (id: string): Promise<object> => run({ id, code: id === 'a' ? 'x = 1\nx' : 'x = 2\nx' });
  const host = await render(<Comparison left="a" right="b" />, servicesOf({ history: { ...store, get } }));
  await eventually(() => expect(host.querySelectorAll('[data-only]')).toHaveLength(4));
  expect(host.querySelector('.jp-CodeAgent-whereNarrow')!.textContent).toBe('− x = 1\n+ x = 2\n  x\n');
});
