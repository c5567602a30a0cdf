import React from 'react';

import type { IColumnsMessage, IContext, IVariable, Shared } from '../../protocol/messages';
import { stateMessage } from '../../testing/golden';
import { change, enter, press, render, unmount } from '../../testing/render';
import { Variables } from './variables';

type Call = [string, ...unknown[]];

const column = (name: string, hidden = false): IVariable['columns'][number] => ({
  name,
  dtype: 'str',
  hidden
});
const contextOf = (changes: Partial<IVariable> = {}, others: Partial<IContext> = {}): IContext => {
  const { context } = stateMessage();
  return { ...context, variables: [{ ...context.variables[0], ...changes }], ...others };
};

async function view(
  context: IContext,
  {
    found = null,
    asked = [],
    canRun = true
  }: { found?: IColumnsMessage | null; asked?: string[]; canRun?: boolean } = {}
): Promise<[HTMLElement, Call[]]> {
  const calls: Call[] = [];
  const host = await render(
    <Variables
      context={context}
      found={found}
      asked={new Set(asked)}
      onShare={(name: string, shared: Shared) => calls.push(['share', name, shared])}
      onColumns={(name, columns, hidden) => calls.push(['columns', name, columns, hidden])}
      onFind={(name, search) => calls.push(['find', name, search])}
      onExplore={canRun ? name => calls.push(['explore', name]) : undefined}
    />
  );
  return [host, calls];
}

async function unfold(host: HTMLElement): Promise<void> {
  await change(() => {
    host.querySelectorAll('details').forEach(fold => {
      fold.open = true;
      fold.dispatchEvent(new Event('toggle'));
    });
  });
}

const checkboxes = (host: HTMLElement): HTMLInputElement[] => [
  ...host.querySelectorAll<HTMLInputElement>('input[type=checkbox]')
];

afterEach(unmount);

it('the total and the limit are displayed', async () => {
  const [host] = await view(contextOf({}, { tokens: 612, budget_tokens: 600, privacy: 'stats' }));
  expect(host.querySelector('header')!.textContent).toContain('612 of 600 tokens');
  expect(host.querySelector('[data-over=true]')).not.toBeNull();
});

it('a variable shows the exact text that the model gets and what it costs', async () => {
  const [host] = await view(contextOf({ told: "flights: DataFrame\n 'a' int 1..2", tokens: 12 }));
  await unfold(host);
  expect(host.querySelector('[aria-label="What the model sees of flights"]')!.textContent).toBe(
    "flights: DataFrame\n 'a' int 1..2"
  );
  expect(host.textContent).toContain('12 tokens');
});

it('names and values of the user’s data are text, never markup', async () => {
  const [host] = await view(
    contextOf({ name: '<b id=x>', told: '<b id=x>', columns: [column('<b id=x>')], column_count: 1 })
  );
  await unfold(host);
  expect(host.querySelector('#x')).toBeNull();
});

it('each column has a checkbox of its own, with its name as label', async () => {
  const columns = [column('carrier'), column('tailnum', true)];
  const [host, calls] = await view(contextOf({ columns, column_count: 2, hidden_count: 1 }));
  await unfold(host);
  expect(checkboxes(host).map(box => [box.labels![0].textContent, box.checked])).toEqual([
    ['carrierstr', true],
    ['tailnumstr', false]
  ]);
  await change(() => checkboxes(host)[0].click());
  await change(() => checkboxes(host)[1].click());
  expect(calls).toEqual([
    ['columns', 'flights', ['carrier'], true],
    ['columns', 'flights', ['tailnum'], false]
  ]);
  expect(host.textContent).toContain('1 column hidden');
});

it('the switch of a variable has its name as label', async () => {
  const [host, calls] = await view(contextOf());
  await enter(host.querySelector<HTMLSelectElement>('select[aria-label="Sharing of flights"]')!, 'hidden');
  expect(calls).toEqual([['share', 'flights', 'hidden']]);
});

describe('what is left out has a reason', () => {
  it.each([
    [{ shared: 'hidden' }, 'The model does not see it'],
    [{ shared: 'hidden', type_name: '' }, 'no such variable exists right now'],
    [{ withheld: 'columns of X values cannot be left out' }, 'columns of X values cannot be left out'],
    [{}, 'Omitted (token limit)']
  ] as [Partial<IVariable>, string][])('%j: %s', async (changes, reason) => {
    const [host] = await view(contextOf({ ...changes, told: '', tokens: 0 }));
    await unfold(host);
    expect(host.textContent).toContain(reason);
  });
});

describe('of many columns', () => {
  const many = Array.from({ length: 200 }, (_, i) => column(`c${i}`));
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('those that are not listed are searched in the kernel, once typing rests', async () => {
    const [host, calls] = await view(contextOf({ columns: many, column_count: 1000 }));
    await unfold(host);
    expect(host.textContent).toContain('200 of 1,000 columns');
    const search = host.querySelector<HTMLInputElement>('input[aria-label="Search columns of flights"]')!;
    await enter(search, 'c9');
    await enter(search, 'c99');
    await change(() => vi.advanceTimersByTime(300));
    expect(calls).toEqual([['find', 'flights', 'c99']]);
  });

  it('all that a search finds are hidden with one button', async () => {
    const [host, calls] = await view(contextOf({ columns: many, column_count: 200 }));
    await unfold(host);
    await enter(host.querySelector<HTMLInputElement>('input[type=search]')!, 'C19');
    await press(host, 'Hide these');
    const hits = ['c19', ...Array.from({ length: 10 }, (_, i) => `c19${i}`)];
    expect(calls).toEqual([['columns', 'flights', hits, true]]);
  });
});

it('of many variables those that are searched are displayed, and the number of the others', async () => {
  const [first] = stateMessage().context.variables;
  const variables = Array.from({ length: 20 }, (_, i) => ({ ...first, name: `v${i}` }));
  const [host] = await view({ ...contextOf(), variables, variable_count: 10_000 });
  expect(host.textContent).toContain('9,980 more variables are not listed');
  await enter(host.querySelector<HTMLInputElement>('input[aria-label="Search variables"]')!, 'v19');
  expect(host.querySelectorAll('select')).toHaveLength(1);
});

it('what the notebook wants always copied needs a press of a button', async () => {
  const [host, calls] = await view(contextOf(), { asked: ['flights'] });
  expect(host.textContent).toContain('The notebook asks to always copy this variable.');
  await press(host, 'Always copy flights');
  expect(calls).toEqual([['share', 'flights', 'shared']]);
});

it('a table is explored with a button, other variables and hidden tables are not', async () => {
  const button = (host: HTMLElement): HTMLButtonElement | null =>
    host.querySelector<HTMLButtonElement>('.jp-CodeAgent-explore button');
  const [host, calls] = await view(contextOf({ name: 'flights', column_count: 3 }));
  expect(button(host)!.getAttribute('aria-label')).toBe('Explore flights');
  await change(() => button(host)!.click());
  expect(calls).toEqual([['explore', 'flights']]);
  await unmount();
  for (const other of [{ column_count: 0 }, { column_count: 3, shared: 'hidden' as const }]) {
    const [without] = await view(contextOf(other));
    expect(button(without)).toBeNull();
    await unmount();
  }
  const [waiting] = await view(contextOf({ column_count: 3 }), { canRun: false });
  expect(button(waiting)!.disabled).toBe(true);
});
