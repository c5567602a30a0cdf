import React from 'react';

import { AgentModel } from '../../comm/agentmodel';
import type { KernelConnection } from '../../comm/connection';
import type { FromPage } from '../../protocol/messages';
import { FROM_PAGE, stateMessage } from '../../testing/golden';
import { render, servicesOf, unmount } from '../../testing/render';
import { Grants } from './grants';

async function shown(
  grants = stateMessage().grants
): Promise<{ host: HTMLElement; sent: FromPage[]; model: AgentModel }> {
  const model = new AgentModel();
  model.apply({ ...stateMessage(), grants });
  const sent: FromPage[] = [];
  const connection = { model, send: (message: FromPage) => sent.push(message) > 0 };
  const host = await render(
    <Grants connection={connection as unknown as KernelConnection} />,
    servicesOf({})
  );
  return { host, sent, model };
}

afterEach(unmount);

it('lists what is allowed, in words, files by their last name and in whole where one points', async () => {
  const { host } = await shown();
  const items = [...host.querySelectorAll('li > span')];
  expect(items.map(one => one.textContent)).toEqual([
    'all calls to send() in this notebook',
    'reading trips.parquet in the sandbox'
  ]);
  expect(items[1].getAttribute('title')).toBe('reading /home/me/trips.parquet in the sandbox');
});

it('each has a button of its own name that takes it back', async () => {
  const { host, sent } = await shown();
  const buttons = [...host.querySelectorAll('button')];
  expect(buttons.map(button => button.getAttribute('aria-label'))).toEqual([
    'Revoke: all calls to send() in this notebook',
    'Revoke: reading /home/me/trips.parquet in the sandbox'
  ]);
  buttons[0].click();
  expect(sent).toEqual([FROM_PAGE.take_back]);
});

it('is not there where nothing is allowed', async () => {
  expect((await shown([])).host.textContent).toBe('');
});

it('follows what the kernel says', async () => {
  const { model } = await shown();
  model.apply({ type: 'grants', grants: [{ kind: 'run', subject: '' }] });
  expect(model.state.grants).toEqual([{ kind: 'run', subject: '' }]);
});
