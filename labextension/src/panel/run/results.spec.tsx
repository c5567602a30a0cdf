import React from 'react';

import { AgentModel } from '../../comm/agentmodel';
import type { FromPage, ToPage } from '../../protocol/messages';
import { FROM_PAGE, run, stateMessage, TO_PAGE } from '../../testing/golden';
import { press, render, unmount } from '../../testing/render';
import { Results } from './results';

afterEach(unmount);

describe('what a run left in the sandbox', () => {
  it('names the copies that differ, and how', async () => {
    const host = await render(<Results run={run()} />);
    const lines = [...host.querySelectorAll('li')].map(item => item.textContent);
    expect(lines).toEqual([
      "flights the copy was changed in place + 'speed', values of 'arr_delay', index",
      "tmp was deleted by an earlier run − 'gone'"
    ]);
  });

  it('has a button beside each result that can be brought back, and says as what', async () => {
    const asked: string[] = [];
    const host = await render(<Results run={run()} onPull={name => asked.push(name)} />);
    const results = [...host.querySelectorAll('[aria-label="Results in the sandbox"] li')];
    expect(results.map(result => result.textContent)).toEqual([
      'Bring back late Series 16',
      'Bring back figure Figure, as a PNG image'
    ]);
    await press(host, 'Bring back late');
    expect(asked).toEqual(['late']);
  });

  it('has no button where there is no sandbox to bring anything from', async () => {
    const host = await render(<Results run={run()} />);
    expect(host.querySelectorAll('button')).toHaveLength(0);
  });

  it('shows names from the sandbox as text, never as HTML', async () => {
    const hostile = '<img src=x onerror="window.pwned=1">';
    const shown = run();
    shown.made = [{ name: hostile, type_name: hostile, shape: [], returns_as: 'data' }];
    const host = await render(<Results run={shown} onPull={() => undefined} />);
    expect(host.querySelector('img')).toBeNull();
    expect(host.textContent).toContain(hostile);
  });

  it('shows what was asked for as waiting, and then what the kernel answered', () => {
    const model = new AgentModel();
    model.apply(stateMessage());
    const pull = FROM_PAGE.pull as Extract<FromPage, { type: 'pull' }>;
    model.setPulling(pull.run_id, pull.name);
    expect(Object.values(model.state.pulls)).toEqual([{ state: 'waiting', text: '' }]);
    model.apply(TO_PAGE.pulled as ToPage);
    expect(Object.values(model.state.pulls)).toEqual([{ state: 'done', text: 'late is now Series 16' }]);
  });

  it('a record of an older version has nothing of it', async () => {
    const older = run();
    delete older.changes;
    delete older.made;
    const host = await render(<Results run={older} onPull={() => undefined} />);
    expect(host.textContent).toBe('');
  });
});
