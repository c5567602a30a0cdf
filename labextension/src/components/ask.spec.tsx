import { Signal } from '@lumino/signaling';
import React from 'react';

import { EMPTY } from '../model';
import { run } from '../testing/golden';
import { FakeKernel } from '../testing/kernel';
import { panelWith, trackerOf } from '../testing/notebooks';
import { change, render, servicesOf, unmount } from '../testing/render';
import { Ask } from './ask';

afterEach(unmount);

it('the last prompt, called back, is text: what was filled in once is not an expression of the kernel', async () => {
  const kernel = new FakeKernel();
  const asked = run();
  asked.request = { ...asked.request, prompt: 'Is {{x}} it?', notebook: 'eda.ipynb' };
  const model = { state: { ...EMPTY, link: 'ready', runs: [asked] }, changed: new Signal({}) };
  const services = servicesOf({
    tracker: trackerOf(panelWith(kernel)),
    connections: { current: { kernel, model }, changed: new Signal({}) }
  });
  const host = await render(<Ask />, services);
  const field = host.querySelector('textarea')!;
  await change(() => field.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true })));
  expect(field.value).toBe('Is \\{{x}} it?');
});
