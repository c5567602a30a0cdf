import React from 'react';

import { change, choose, press, render, unmount } from '../../testing/render';
import { MenuButton } from './menubutton';

afterEach(unmount);

let done: string[];
const draw = (): Promise<HTMLElement> => {
  done = [];
  const actions = ['One', 'Two'].map(label => ({ label, act: () => void done.push(label) }));
  return render(<MenuButton actions={[actions[0], null, actions[1]]} />);
};
const button = (host: HTMLElement): HTMLButtonElement => host.querySelector('button')!;

it('what is chosen from the menu with the keyboard is done, and the keyboard is back at its button', async () => {
  const host = await draw();
  await choose(host, 'Two');
  expect([done, document.activeElement, document.querySelector('.lm-Menu')]).toEqual([
    ['Two'],
    button(host),
    null
  ]);
});

it('Escape closes the menu and does nothing', async () => {
  const host = await draw();
  await press(host, 'More actions');
  expect(button(host).getAttribute('aria-expanded')).toBe('true');
  const menu = document.querySelector('.lm-Menu')!;
  expect([menu.getAttribute('role') ?? menu.firstElementChild!.getAttribute('role'), done]).toEqual([
    'menu',
    []
  ]);
  await change(() => menu.dispatchEvent(new KeyboardEvent('keydown', { keyCode: 27, bubbles: true })));
  expect([document.querySelector('.lm-Menu'), document.activeElement, done]).toEqual([
    null,
    button(host),
    []
  ]);
});
