import React from 'react';

import type { IHouseRules } from '../../protocol/messages';
import { stateMessage } from '../../testing/golden';
import { render, unmount } from '../../testing/render';
import { HouseRules } from './houserules';

const file = (changes: Partial<IHouseRules> = {}): IHouseRules => ({
  ...stateMessage().context.house_rules[0],
  ...changes
});

afterEach(unmount);

it('each file shows its path, the exact text that the model gets and what is left out', async () => {
  const host = await render(<HouseRules files={[file()]} />);
  expect(host.querySelector('section')!.getAttribute('aria-label')).toBe('House rules');
  expect(host.querySelector('header')!.textContent).toContain('9 tokens');
  const text = host.querySelector('[aria-label="What the model sees of /home/me/sales/CODEAGENT.md"]')!;
  expect(text.textContent).toBe('Amounts are in thousands of euros.');
  expect(host.textContent).toContain('Left out: the last 2 lines');
});

it('the tokens are those of all files, in their order', async () => {
  const files = [file({ path: 'own', tokens: 1200, left_out: '' }), file({ path: 'beside', tokens: 34 })];
  const host = await render(<HouseRules files={files} />);
  expect(host.querySelector('header')!.textContent).toContain('1,234 tokens');
  expect([...host.querySelectorAll('code')].map(node => node.textContent)).toEqual(['own', 'beside']);
  expect(host.textContent!.match(/Left out/g)).toHaveLength(1);
});

it('of a file that cannot be told only the reason is displayed', async () => {
  const left = 'all of it, because it is not UTF-8 text';
  const host = await render(<HouseRules files={[file({ told: '', tokens: 0, left_out: left })]} />);
  expect(host.querySelector('pre')).toBeNull();
  expect(host.textContent).toContain(`Left out: ${left}`);
});

it('the text of a file is text, never markup', async () => {
  const host = await render(
    <HouseRules files={[file({ path: '<b id=x>', told: '<b id=x>', left_out: '<b id=x>' })]} />
  );
  expect(host.querySelector('#x')).toBeNull();
});

it('without a file there is no section', async () => {
  const host = await render(<HouseRules files={[]} />);
  expect(host.textContent).toBe('');
});
