import React from 'react';

import type { IToolCall } from '../../protocol/run';
import { render, servicesOf, unmount } from '../../testing/render';
import { ToolCalls } from './calls';

afterEach(unmount);

const made: IToolCall = {
  tool: 'weather',
  call: "weather('JFK')",
  status: 'ok',
  line: 3,
  result: 'DataFrame 24x5',
  decided_by: 'policy',
  earlier: false,
  duration_s: 0.25
};

const lines = async (...calls: IToolCall[]): Promise<string[]> => {
  const host = await render(<ToolCalls calls={calls} />, servicesOf({}));
  return [...host.querySelectorAll('li')].map(line => line.textContent ?? '');
};

it('of functions are shown with what came of each, where and who decided', async () => {
  expect(
    await lines(
      made,
      { ...made, call: "weather('LGA')", earlier: true },
      { ...made, status: 'denied', line: null, decided_by: 'panel', result: 'no' },
      { ...made, status: 'failed', result: 'ValueError: down' },
      { ...made, status: 'refused', result: 'no such function' },
      { ...made, status: 'undone' },
      { ...made, status: 'stopped' }
    )
  ).toEqual([
    "weather('JFK') → DataFrame 24x5 · line 3 · 0.3 s",
    "weather('LGA') → DataFrame 24x5 · line 3 · recorded result, not called again",
    "weather('JFK') not allowed · you were asked",
    "weather('JFK') failed: ValueError: down · line 3 · 0.3 s",
    "weather('JFK') not called: no such function · line 3",
    "weather('JFK') undone · line 3",
    "weather('JFK') stopped before it returned; it may have taken effect · line 3"
  ]);
});

it('are text, never HTML', async () => {
  const host = await render(
    <ToolCalls calls={[{ ...made, call: 'f("<img src=x>")', result: '<b>x</b>' }]} />,
    servicesOf({})
  );
  expect(host.querySelectorAll('img, b')).toHaveLength(0);
});

it('that were not made take no space', async () => {
  expect((await render(<ToolCalls calls={[]} />, servicesOf({}))).textContent).toBe('');
});
