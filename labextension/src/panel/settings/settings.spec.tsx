import { Notification } from '@jupyterlab/apputils';
import { Signal } from '@lumino/signaling';
import React from 'react';

import { AgentModel } from '../../comm/agentmodel';
import { Preferences } from '../../comm/preferences';
import type { FromPage, IModelsMessage, ISetting, IServer } from '../../protocol/messages';
import { FROM_PAGE, stateMessage, TO_PAGE } from '../../testing/golden';
import { notebookOf, panelOf, trackerOf } from '../../testing/notebooks';
import { change, enter, press, render, servicesOf, unmount } from '../../testing/render';
import { settingsOf } from '../../testing/settings';
import { Ask } from '../ask/ask';
import { ContextTab } from '../context/context';
import { PanelMemory } from '../panelmemory';
import { SettingsTab } from './settings';

afterEach(unmount);

const setting = (name: string, value: ISetting['value'], changes: Partial<ISetting> = {}): ISetting => ({
  name,
  value,
  source: 'default',
  fixed: false,
  limit: null,
  ...changes
});

async function shown(
  element: JSX.Element,
  values: ISetting[],
  server: IServer | null = null,
  changes: object = {}
): Promise<{ host: HTMLElement; sent: FromPage[]; model: AgentModel }> {
  const model = new AgentModel();
  model.apply({ ...stateMessage(), settings: { values, server, problem: '' } });
  model.apply(TO_PAGE.models as IModelsMessage);
  const sent: FromPage[] = [];
  const send = (message: FromPage): boolean => sent.push(message) > 0;
  const kernel = { id: 'k', status: 'idle', statusChanged: new Signal({}) };
  const connections = { current: { model, send, kernel }, changed: new Signal({}) };
  const tracker = trackerOf(panelOf(notebookOf('x')));
  return { host: await render(element, servicesOf({ connections, tracker, ...changes })), sent, model };
}

describe('the privacy mode', () => {
  it('is chosen with one click and says where prompts go', async () => {
    const server = { model: 'big', label: 'models.example.org', remote: true };
    const { host, sent } = await shown(<ContextTab />, [setting('privacy', 'stats')], server);
    expect(host.querySelector('[data-remote=true]')!.textContent).toContain(
      'REMOTEbig at models.example.org'
    );
    host.querySelector<HTMLInputElement>('input[type=radio]')!.click();
    expect(sent).toEqual([FROM_PAGE.choose]);
  });

  it('that the administrator does not allow cannot be chosen, and a refusal is shown', async () => {
    const capped = setting('privacy', 'schema', { limit: 'stats', source: 'session' });
    const { host, model } = await shown(<ContextTab />, [capped]);
    const radios = [...host.querySelectorAll<HTMLInputElement>('input[type=radio]')];
    expect(radios.map(radio => radio.disabled)).toEqual([false, false, true]);
    expect(host.textContent).toContain('at most stats (set by your administrator)');
    await unmount();
    model.apply(TO_PAGE.refused as never);
    expect(model.state.refused).toContain('Your administrator fixes');
    model.clearRefusal();
    expect(model.state.refused).toBe('');
  });
});

describe('the settings', () => {
  it('fixed by the administrator are shown as fixed and cannot be changed', async () => {
    const fixed = setting('approve', 'ask', { fixed: true, limit: 'ask', source: 'administrator' });
    const { host } = await shown(<SettingsTab />, [fixed, setting('max_steps', 4)]);
    expect(host.querySelector('select')!.disabled).toBe(true);
    expect(host.textContent).toContain('fixed by your administrator');
    expect(host.querySelectorAll('.jp-CodeAgent-source svg')).toHaveLength(1);
  });

  it('are changed for the kernel, and kept for all notebooks only when that is asked for', async () => {
    const kept: Record<string, unknown> = {};
    const preferences = new Preferences(settingsOf(kept));
    await preferences.ready;
    const changed = setting('max_steps', 6, { source: 'session' });
    const { host, sent } = await shown(<SettingsTab />, [changed], null, { preferences });
    const field = host.querySelector<HTMLInputElement>('input[type=number]')!;
    await enter(field, '3');
    field.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
    expect(sent.slice(1)).toEqual([{ type: 'choose', name: 'max_steps', value: 3 }]);
    expect(kept).toEqual({});
    await press(host, 'Use max_steps in all notebooks');
    await vi.waitFor(() => expect(kept).toEqual({ maxSteps: 6 }));
    expect(preferences.values).toEqual({ max_steps: 6 });
  });
});

it('a setting that cannot be kept is reported, in whichever tab', async () => {
  vi.spyOn(console, 'error').mockReturnValueOnce(undefined);
  const preferences = { canSave: true, save: () => Promise.reject(new Error('the disk is full')) };
  const error = vi.spyOn(Notification, 'error').mockReturnValue('');
  const changed = setting('privacy', 'stats', { source: 'session' });
  const { host } = await shown(<ContextTab />, [changed], null, { preferences });
  await press(host, 'Use privacy in all notebooks');
  expect(error.mock.calls[0][0]).toContain('“Use in all notebooks” failed: the disk is full');
  error.mockRestore();
});

describe('a number that the kernel refuses', () => {
  const refusal = { type: 'refused' as const, text: 'max_steps is at most 8; 99 was not set.' };
  const leave = (field: HTMLElement): Promise<void> =>
    change(() => field.dispatchEvent(new FocusEvent('focusout', { bubbles: true })));
  const steps = (host: HTMLElement): HTMLInputElement => host.querySelector('input[type=number]')!;

  it('gives way to the one in force, and the reason is beside it', async () => {
    const { host, model } = await shown(<SettingsTab />, [
      setting('max_steps', 4),
      setting('timeout_s', 120)
    ]);
    await enter(steps(host), '99');
    await leave(steps(host));
    expect(steps(host).value).toBe('99');
    await change(() => model.apply(refusal));
    expect(steps(host).value).toBe('4');
    expect(steps(host).closest('li')!.querySelector('[role=alert]')!.textContent).toBe(refusal.text);
    expect(host.querySelectorAll('[role=alert]')).toHaveLength(1);
    await enter(steps(host), '99');
    await leave(steps(host));
    expect(host.querySelector('[role=alert]')).toBeNull();
    await change(() => model.apply(refusal));
    expect(steps(host).value).toBe('4');
  });

  it('does not take with it what is being typed meanwhile, there or in another field', async () => {
    const { host, model } = await shown(<SettingsTab />, [
      setting('max_steps', 4),
      setting('timeout_s', 120)
    ]);
    const other = host.querySelectorAll<HTMLInputElement>('input[type=number]')[1];
    await enter(steps(host), '99');
    await leave(steps(host));
    await enter(steps(host), '9');
    await enter(other, '30');
    await change(() => model.apply(refusal));
    expect([steps(host).value, other.value]).toEqual(['9', '30']);
  });

  it('that is of a model or of the settings of JupyterLab is above all', async () => {
    const { host, model } = await shown(<SettingsTab />, [setting('max_steps', 4)]);
    await enter(steps(host), '6');
    await leave(steps(host));
    await press(host, 'Use qwen-coder');
    await change(() => model.apply(refusal));
    expect(steps(host).closest('li')!.querySelector('[role=alert]')).toBeNull();
    expect(host.querySelector('[role=alert]')!.textContent).toBe(refusal.text);
  });
});

it('a number that was set while the next one is typed does not replace it', async () => {
  const { host, model } = await shown(<SettingsTab />, [setting('max_steps', 4)]);
  const field = host.querySelector<HTMLInputElement>('input[type=number]')!;
  const confirm = (value: number): Promise<void> =>
    change(() =>
      model.apply({
        ...stateMessage(),
        settings: { values: [setting('max_steps', value)], server: null, problem: '' }
      })
    );
  await enter(field, '3');
  await change(() => field.dispatchEvent(new FocusEvent('focusout', { bubbles: true })));
  await enter(field, '35');
  await confirm(3);
  expect(host.querySelector('input[type=number]')).toBe(field);
  expect(field.value).toBe('35');
  await enter(field, '3');
  await confirm(5);
  expect(field.value).toBe('5');
});

describe('the models', () => {
  const here = { model: 'small', label: '127.0.0.1:8080', remote: false };

  it('are looked for when the tab is opened, with the health of their servers, and changed with one click', async () => {
    const { host, sent } = await shown(<SettingsTab />, [], here);
    expect(host.textContent).toContain('refused the key (401)');
    expect(host.querySelector('[aria-current=true]')!.textContent).toContain('small');
    await press(host, 'Use qwen-coder');
    expect(sent).toEqual([
      FROM_PAGE.find_models,
      { type: 'use_model', model: 'qwen-coder', base_url: 'http://127.0.0.1:8080/v1', confirmed: '' }
    ]);
  });

  it('on another machine are used only after a yes that names it', async () => {
    const models = JSON.parse(JSON.stringify(TO_PAGE.models)) as IModelsMessage;
    models.servers[0] = { ...models.servers[0], problem: '', models: ['big'] };
    const again = await shown(<SettingsTab />, [setting('privacy', 'stats')], here);
    again.model.apply(models);
    await vi.waitFor(() => expect(again.host.textContent).toContain('big'));
    await press(again.host, 'Use big');
    expect(again.sent).toHaveLength(1);
    expect(again.host.querySelector('[role=alertdialog]')!.textContent).toContain('statistics of your data');
    await press(again.host, 'Send to models.example.org');
    expect(again.sent[1]).toEqual(FROM_PAGE.use_model);
  });

  it('that the administrator does not allow cannot be used', async () => {
    const fixed = setting('model', 'small', { fixed: true, limit: 'small', source: 'administrator' });
    const { host } = await shown(<SettingsTab />, [fixed], here);
    const use = [...host.querySelectorAll('button')].find(
      b => b.getAttribute('aria-label') === 'Use qwen-coder'
    )!;
    expect(use.disabled).toBe(true);
    expect(host.textContent).toContain('fixed by your administrator');
  });
});

describe('the Ask box', () => {
  const field = (host: HTMLElement): HTMLTextAreaElement => host.querySelector('textarea')!;
  const key = (host: HTMLElement, name: string): boolean =>
    field(host).dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));

  it('keeps its draft, and a plain Enter does not run it', async () => {
    const memory = new PanelMemory();
    const { host } = await shown(<Ask />, [], null, { memory });
    await enter(field(host), 'first line');
    expect(key(host, 'Enter')).toBe(true);
    expect(memory.get('draft eda.ipynb')).toBe('first line');
    await unmount();
    const again = await shown(<Ask />, [], null, { memory });
    expect(field(again.host).value).toBe('first line');
  });

  it('says that a question waits while the kernel is at work', async () => {
    const { host, model } = await shown(<Ask />, []);
    expect(host.textContent).not.toContain('busy');
    const running = stateMessage();
    running.runs[0] = { ...running.runs[0], status: 'running', ended_at: null };
    model.apply(running);
    await vi.waitFor(() => expect(host.textContent).toContain('your question will run when it is free'));
  });

  it('offers to load the agent where it is not loaded', async () => {
    const { host, model } = await shown(<Ask />, []);
    model.setLink('absent');
    await vi.waitFor(() => expect(host.textContent).toContain('Load the agent'));
  });
});
