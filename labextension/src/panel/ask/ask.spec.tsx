import { Signal } from '@lumino/signaling';
import React from 'react';

import { EMPTY_STATE } from '../../comm/agentstate';
import { run } from '../../testing/golden';
import { FakeKernel } from '../../testing/kernel';
import { notebookOf, panelWith, trackerOf } from '../../testing/notebooks';
import { change, render, servicesOf, unmount } from '../../testing/render';
import { Ask } from './ask';

afterEach(unmount);

it('the cell below which the question will be inserted is named, and again when another is active or has run', async () => {
  const kernel = new FakeKernel();
  const notebook = notebookOf('df.head()', 'df.tail()');
  const panel = panelWith(kernel, notebook);
  const stateChanged = new Signal<object, void>({});
  const widgets = notebook.cells.map((cell, i) => ({
    model: { id: cell.id, executionCount: i ? null : 5, stateChanged }
  }));
  Object.assign(panel.content, { widgets, activeCellIndex: 0 });
  const activeCellChanged = new Signal<object, void>({});
  const model = { state: { ...EMPTY_STATE, link: 'ready' }, changed: new Signal({}) };
  const services = servicesOf({
    tracker: Object.assign(trackerOf(panel), { activeCellChanged }),
    connections: { current: { kernel, model }, changed: new Signal({}) }
  });
  const host = await render(<Ask />, services);
  const said = (): string | null => host.querySelector('#jp-CodeAgent-askLanding')!.textContent;
  expect(said()).toBe('below cell [5]: df.head()');
  Object.assign(panel.content, { activeCellIndex: 1 });
  await change(() => activeCellChanged.emit());
  expect(said()).toBe('below cell [ ]: df.tail()');
  widgets[1].model.executionCount = 6;
  await change(() => stateChanged.emit());
  expect(said()).toBe('below cell [6]: df.tail()');
  expect(host.querySelector('textarea')!.getAttribute('aria-describedby')).toContain('askLanding');
});

it('the last prompt, called back, is text: what was filled in once is not an expression of the kernel', async () => {
  const kernel = new FakeKernel();
  const asked = run();
  asked.request = { ...asked.request, prompt: 'Is {{x}} it?', notebook: 'eda.ipynb' };
  const model = { state: { ...EMPTY_STATE, link: 'ready', runs: [asked] }, changed: new Signal({}) };
  const services = servicesOf({
    tracker: trackerOf(panelWith(kernel)),
    connections: { current: { kernel, model }, changed: new Signal({}) }
  });
  const host = await render(<Ask />, services);
  const field = host.querySelector('textarea')!;
  await change(() => field.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true })));
  expect(field.value).toBe('Is \\{{x}} it?');
});
