import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import React from 'react';

import type { IOperation, IRun } from '../protocol/run';
import { render, servicesOf, unmount } from '../testing/render';
import { VerdictLine } from './verdictline';

afterEach(unmount);

const trans = nullTranslator.load('x');
const operation: IOperation = {
  text: 'mean of km by city: 4 rows → 2; 1 row without city left out',
  line: 2,
  examples: { title: 'rows left out', columns: ['city', 'km'], rows: [['<b>nan</b>', '5.0']] }
};
const run: Pick<IRun, 'verdict' | 'assumptions' | 'operations' | 'not_observed'> = {
  verdict: { level: 'look', reason: '1 row without city left out (line 2)' },
  assumptions: [
    { text: '1 row without city left out', refinement: 'keep the rows without city', line: 2 },
    { text: 'sample variance', refinement: '', line: 2 }
  ],
  operations: [operation],
  not_observed: ''
};

async function drawn(props: Partial<React.ComponentProps<typeof VerdictLine>>): Promise<HTMLElement> {
  return render(<VerdictLine run={run} trans={trans} {...props} />, servicesOf({}));
}

function button(host: HTMLElement, text: string): HTMLButtonElement {
  return [...host.querySelectorAll('button')].find(one => one.textContent?.includes(text))!;
}

it('is not there where nothing was judged', async () => {
  expect((await drawn({ run: { ...run, verdict: null } })).textContent).toBe('');
});

it('is not there where no step could be checked', async () => {
  const checked = { ...run, verdict: { level: 'checked' as const, reason: 'no step' }, operations: [] };
  expect((await drawn({ run: checked })).textContent).toBe('');
});

it('says that the rows are checked, not the answer', async () => {
  const checked = { ...run, verdict: { level: 'checked' as const, reason: 'nothing lost' } };
  const reason = (await drawn({ run: checked })).querySelector('.jp-CodeAgent-verdictReason');
  expect(reason?.getAttribute('title')).toBe(
    'nothing lost. Check for yourself whether the code answers your question.'
  );
});

it('says a right result in one word, and what was looked at on a click', async () => {
  const checked = { ...run, verdict: { level: 'checked' as const, reason: 'nothing lost' }, assumptions: [] };
  const host = await drawn({ run: checked });
  expect(host.textContent).toBe('Rows checked▸ Steps of the code (1)');
  act(() => button(host, 'Steps of the code').click());
  expect(host.textContent).toContain('nothing lost');
});

it('always says its reason, and asks again with the other choice', async () => {
  const asked: string[] = [];
  const host = await drawn({ onRefine: ({ refinement }) => asked.push(refinement) });
  expect(host.textContent).toBe(
    'Worth a look: 1 row without city left out (line 2)keep the rows without citysample variance▸ Steps of the code (1)'
  );
  button(host, 'keep the rows').click();
  expect(asked).toEqual(['keep the rows without city']);
  expect(button(host, 'sample variance')).toBeUndefined();
});

it('does not repeat its reason as a chip that nobody can press', async () => {
  expect((await drawn({})).textContent).toBe(
    'Worth a look: 1 row without city left out (line 2)sample variance▸ Steps of the code (1)'
  );
});

it('has the reason alone where it is brief', async () => {
  expect((await drawn({ brief: true })).textContent).toBe(
    'Worth a look: 1 row without city left out (line 2)'
  );
});

it('leads from a step to its line, marks the step of the line with the cursor, and shows examples as text', async () => {
  const lines: number[] = [];
  const host = await drawn({ onLine: line => lines.push(line), line: 2 });
  act(() => button(host, 'Steps of the code').click());
  button(host, 'line 2').click();
  expect(lines).toEqual([2]);
  expect(host.querySelectorAll('li[aria-current]')).toHaveLength(1);
  act(() => button(host, 'rows left out').click());
  expect(host.querySelector('table')?.textContent).toBe('citykm<b>nan</b>5.0');
  expect(host.querySelector('b')).toBeNull();
});

it('says that steps are missing', async () => {
  const host = await drawn({ run: { ...run, not_observed: 'RuntimeError: x' } });
  act(() => button(host, 'Steps of the code').click());
  expect(host.textContent).toContain('Some steps were not observed: RuntimeError: x');
});
