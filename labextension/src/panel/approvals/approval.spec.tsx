import type { CodeEditor, IEditorServices } from '@jupyterlab/codeeditor';
import React from 'react';

import type { IDecisionMessage, IEffects, IProposal } from '../../protocol/messages';
import type { IToolCall } from '../../protocol/run';
import { FROM_PAGE, run, stateMessage } from '../../testing/golden';
import { change, enter, eventually, press, render, servicesOf, unmount } from '../../testing/render';
import { DecisionLine } from '../run/decision';
import { applyBody } from './applydialog';
import { Approval } from './approval';
import { ARMED_MS } from './approvalhooks';

let model: CodeEditor.IModel;
let isWrapped: unknown;
const editors = {
  factoryService: {
    newInlineEditor: (options: CodeEditor.IOptions) => {
      model = options.model;
      isWrapped = options.config?.lineWrap;
      return { dispose: () => undefined };
    }
  }
} as unknown as IEditorServices;
const services = servicesOf({ editors });

const proposal: IProposal = {
  ...stateMessage().proposals[0],
  ...{ id: '9d1f', code: 'flights.head(3)', previous_code: 'flights.head(9)' }
};

interface ICard {
  host: HTMLElement;
  decided: IDecisionMessage[];
  looked: string[];
}
interface ICardOptions {
  sent?: boolean;
  armed?: boolean;
  effects?: IEffects | null;
}

const call: Partial<IProposal> = {
  ...{ kind: 'call', code: "send('ada')", effects: null, scopes: ['once', 'run', 'notebook'] },
  lasting: [{ kind: 'call', subject: 'send' }]
};

const button = (host: HTMLElement, name: string): HTMLButtonElement =>
  [...host.querySelectorAll('button')].find(one => one.textContent === name)!;

async function card(changes: Partial<IProposal> = {}, options: ICardOptions = {}): Promise<ICard> {
  const [decided, looked]: [IDecisionMessage[], string[]] = [[], []];
  const element = (
    <Approval
      proposal={{ ...proposal, ...changes }}
      onDecide={decision => {
        decided.push(decision);
        return options.sent ?? true;
      }}
      onFindEffects={async code => {
        looked.push(code);
        return options.effects ?? null;
      }}
    />
  );
  const host = await render(element, services);
  if (options.armed ?? true) {
    await eventually(() => expect(button(host, 'Approve').disabled).toBe(false));
  }
  return { host, decided, looked };
}

afterEach(unmount);

it('sends the golden decision', async () => {
  const { host, decided } = await card();
  await change(() => host.querySelectorAll<HTMLInputElement>('input[type=radio]')[1].click());
  await press(host, 'Approve');
  expect(decided).toEqual([FROM_PAGE.decision]);
});

it('a press right after the card came is ignored: it was meant for something else', async () => {
  const { host, decided } = await card({}, { armed: false });
  const came = Date.now();
  await press(host, 'Approve');
  await press(host, 'Reject');
  expect(decided).toEqual([]);
  await eventually(() => expect(button(host, 'Approve').disabled).toBe(false));
  expect(Date.now() - came).toBeGreaterThanOrEqual(ARMED_MS - 50);
});

it('takes no focus, can be focused at its title, and Enter in it decides nothing', async () => {
  const { host, decided } = await card();
  expect(host.contains(document.activeElement)).toBe(false);
  host.querySelector('h3')!.focus();
  expect(document.activeElement!.tagName).toBe('H3');
  const reason = host.querySelector<HTMLInputElement>('input[type=text]')!;
  const enterKey = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true });
  await change(() => reason.dispatchEvent(enterKey));
  expect(enterKey.defaultPrevented).toBe(true);
  expect(host.querySelector('form')).toBeNull();
  expect(decided).toEqual([]);
});

it('says yes only once if nothing else is chosen, and shows that it is on its way', async () => {
  const { host, decided } = await card();
  await press(host, 'Approve');
  expect(decided[0].scope).toBe('once');
  expect(button(host, 'Approving …').disabled).toBe(true);
  expect(button(host, 'Reject').disabled).toBe(true);
});

it('that could not be sent says so and stays', async () => {
  const { host } = await card({}, { sent: false });
  await press(host, 'Approve');
  expect(host.querySelector('[role=alert]')!.textContent).toContain('was not sent');
  expect(button(host, 'Approve').disabled).toBe(false);
});

it('is sent again until the kernel has resolved it', async () => {
  vi.useFakeTimers();
  try {
    const { host, decided } = await card({}, { armed: false });
    await change(() => vi.advanceTimersByTime(ARMED_MS));
    await press(host, 'Approve');
    await change(() => vi.advanceTimersByTime(4001));
    expect(decided).toHaveLength(2);
    expect(decided[1]).toEqual(decided[0]);
  } finally {
    vi.useRealTimers();
  }
});

it('a decision that went out stays the only one when the line is cut behind it', async () => {
  vi.useFakeTimers();
  try {
    const options = { armed: false, sent: true };
    const { host, decided } = await card({}, options);
    await change(() => vi.advanceTimersByTime(ARMED_MS));
    await press(host, 'Approve');
    options.sent = false;
    await change(() => vi.advanceTimersByTime(4001));
    expect(host.textContent).toContain('Waiting for the kernel to confirm');
    expect(host.textContent).not.toContain('Nothing was run');
    expect(button(host, 'Approving …').disabled).toBe(true);
    expect(button(host, 'Reject').disabled).toBe(true);
    options.sent = true;
    await change(() => vi.advanceTimersByTime(4001));
    expect(host.textContent).not.toContain('Waiting for the kernel to confirm');
    expect(decided.map(one => one.action)).toEqual(['approve', 'approve', 'approve']);
  } finally {
    vi.useRealTimers();
  }
});

it('rejects with a reason, never with code, and never for the whole notebook', async () => {
  const { host, decided } = await card();
  await change(() => host.querySelectorAll<HTMLInputElement>('input[type=radio]')[1].click());
  await enter(host.querySelector<HTMLInputElement>('input[type=text]')!, ' too slow ');
  await press(host, 'Reject');
  expect(decided).toEqual([{ type: 'decision', proposal_id: '9d1f', action: 'reject', reason: 'too slow' }]);
});

it.each([
  ['run', 'Run this in the sandbox?'],
  ['apply', 'Run this in YOUR kernel?'],
  ['overwrite', 'Overwrite your variable?'],
  ['mount', 'Let the sandbox read your files?'],
  ['call', 'Call your function in YOUR kernel?'],
  ['query', 'Query your database?'],
  ['server', 'Send your prompts to this model server?']
] as const)('of kind %s asks: %s', async (kind, title) => {
  const { host } = await card({ kind });
  const group = host.querySelector('[role=group]')!;
  expect(document.getElementById(group.getAttribute('aria-labelledby')!)!.textContent).toBe(title);
  expect(host.textContent).toContain(proposal.note);
});

it('to read files is answered for these files alone, and their paths cannot be edited', async () => {
  const lasting = [{ kind: 'mount' as const, subject: '/home/me/trips.parquet' }];
  const asked = { kind: 'mount' as const, code: '/home/me/trips.parquet', effects: null };
  const { host, decided } = await card({ ...asked, scopes: ['notebook'], lasting });
  expect(host.querySelector('pre')!.textContent).toContain('/home/me/trips.parquet');
  expect(host.querySelector('.jp-CodeAgent-editor, input[type=radio], .jp-CodeAgent-effects')).toBeNull();
  await press(host, 'Approve');
  expect(host.textContent).toContain('lasts until you revoke it');
  expect(decided[0]).toMatchObject({ scope: 'notebook', action: 'approve' });
});

it('to run code in the user’s kernel is answered for this once, and nothing lasting is offered', async () => {
  const { host, decided } = await card({ kind: 'apply', scopes: ['once'], lasting: [] });
  expect(host.querySelector('input[type=radio]')).toBeNull();
  expect(host.textContent).not.toContain('this notebook');
  await press(host, 'Approve');
  expect(decided[0]).toMatchObject({ scope: 'once', action: 'approve' });
});

it('to send prompts to a server is answered for that server alone, and its address cannot be edited', async () => {
  const lasting = [{ kind: 'server' as const, subject: 'https://api.example.org' }];
  const asked = { kind: 'server' as const, code: 'https://api.example.org', effects: null };
  const { host, decided } = await card({ ...asked, scopes: ['notebook'], lasting });
  expect(host.querySelector('pre')!.textContent).toBe('https://api.example.org');
  expect(host.querySelector('.jp-CodeAgent-editor, input[type=radio], .jp-CodeAgent-effects')).toBeNull();
  await press(host, 'Approve');
  expect(host.textContent).toContain('lasts until you revoke it');
  expect(decided[0]).toMatchObject({ scope: 'notebook', action: 'approve' });
});

it('to run code in the sandbox says what a yes for the notebook covers', async () => {
  const { host } = await card();
  const labels = [...host.querySelectorAll('fieldset label')].map(label => label.textContent);
  expect(labels).toEqual(['this once', 'all further code from this notebook in the sandbox']);
});

it('to call a function is answered for that function alone, and its arguments can be edited', async () => {
  const { host, decided } = await card(call);
  expect(host.querySelector('.jp-CodeAgent-editor')).not.toBeNull();
  expect(host.querySelector('.jp-CodeAgent-effects')).toBeNull();
  await change(() => host.querySelectorAll<HTMLInputElement>('input[type=radio]')[2].click());
  expect(host.textContent).toContain('all calls to send() in this notebook');
  await press(host, 'Approve');
  expect(decided[0]).toMatchObject({ scope: 'notebook', action: 'approve' });
  expect(decided[0].calls).toBeUndefined();
});

it('to call a function is shown with its long lines wrapped: an argument could have its end out of sight', async () => {
  await card(call);
  expect(isWrapped).toBe(true);
  await card({ kind: 'run' });
  expect(isWrapped).toBe(false);
});

it('to call a function is answered for as many calls as the program makes in one go, or as the person says', async () => {
  const { host, decided } = await card({ ...call, calls: 40 });
  const number = host.querySelector<HTMLInputElement>('input[type=number]')!;
  expect(number.value).toBe('40');
  await change(() => host.querySelectorAll<HTMLInputElement>('input[type=radio]')[1].click());
  await press(host, 'Approve');
  expect(decided[0]).toMatchObject({ scope: 'run', calls: 40 });
  await unmount();
  const other = await card({ ...call, calls: 1 });
  await enter(other.host.querySelector<HTMLInputElement>('input[type=number]')!, '3');
  expect(other.host.querySelectorAll<HTMLInputElement>('input[type=radio]')[1].checked).toBe(true);
  await enter(other.host.querySelector<HTMLInputElement>('input[type=number]')!, '0');
  await press(other.host, 'Approve');
  expect(other.decided[0]).toMatchObject({ scope: 'run', calls: 3 });
});

it('displays why it is asked and what the code would do, and no more of names', async () => {
  const { host } = await card({ kind: 'apply' });
  expect(host.textContent).toContain("The previous attempt failed: KeyError: 'late'");
  const said = [...host.querySelectorAll('dl > div')].map(line => line.textContent);
  expect(said).toEqual([
    'Readsflights DataFrame 336776x19',
    'Would createlate',
    'Would overwritedaily DataFrame 365x3',
    'Would change in placeflights DataFrame 336776x19',
    'Would deleteold list of 4',
    'Not in your kernelairports',
    "Would write or remove files'late.csv'",
    'Cannot be determined from the codeit runs text as code (exec)'
  ]);
});

it('shows what changed since the last attempt with signs; without one there is nothing to choose', async () => {
  const { host } = await card();
  await press(host, 'Changes since the last attempt');
  const lines = [...host.querySelectorAll('.jp-CodeAgent-diffLine')].map(line => line.textContent);
  expect(lines).toEqual(['- flights.head(9)\n', '+ flights.head(3)\n']);
  await unmount();
  const first = await card({ previous_code: '' });
  expect(first.host.querySelector('.jp-CodeAgent-toggle')).toBeNull();
});

it('runs the user’s own text, says so, asks anew what it would do, and takes it back', async () => {
  const effects = { ...proposal.effects!, creates: [{ name: 'mine', what: '' }] };
  const { host, decided, looked } = await card({}, { effects });
  await change(() => model.sharedModel.setSource('mine = 1'));
  expect(host.textContent).toContain('your version will run');
  await eventually(() => expect(host.querySelector('dl')!.textContent).toContain('Would createmine'));
  expect(looked).toEqual(['mine = 1']);
  await press(host, 'Your changes');
  expect(host.querySelector('.jp-CodeAgent-diff')!.textContent).toBe('- flights.head(3)\n+ mine = 1\n');
  await press(host, 'Revert my changes');
  expect(model.sharedModel.getSource()).toBe('flights.head(3)');
  expect(host.querySelector('dl')!.textContent).not.toContain('Would createmine');
  await change(() => model.sharedModel.setSource('mine = 2'));
  await press(host, 'Approve');
  expect(decided[0].code).toBe('mine = 2');
});

it('before code runs in the user’s kernel, effects that are not known are said to be so', async () => {
  const host = await render(
    applyBody(services.trans, { kernel: 'Python 3', code: 'a = 1', effects: null, run: null })
  );
  expect(host.textContent).toContain('could not be determined');
  expect(host.textContent).toContain('a = 1');
});

it('before code runs in the user’s kernel, what it reached there from the sandbox is not called a copy', async () => {
  const step = stateMessage()
    .runs.flatMap(each => each.steps)
    .find(each => each.result?.calls?.length)!;
  const [call] = step.result!.calls!;
  const text = async (calls: IToolCall[]): Promise<string> => {
    const record = run({ steps: [{ ...step, result: { ...step.result!, calls } }] });
    const host = await render(
      applyBody(services.trans, { kernel: 'Python 3', code: 'a = 1', effects: null, run: record })
    );
    const shown = host.textContent ?? '';
    await unmount();
    return shown;
  };
  const copied = await text([]);
  expect(copied).toContain('in the sandbox, on copies');
  expect(copied).not.toContain('again');
  const asked = await text([1, 2].map(() => ({ ...call, tool: 'db', kind: 'duckdb' })));
  expect(asked).not.toContain('copies');
  expect(asked).toContain('It would query db again, now from your own kernel');
  expect(await text([{ ...call, tool: 'weather' }])).toContain(
    'It would call weather again without asking you.'
  );
});

it('a decision tells who, when, and that the code was edited; nobody was asked by a policy', async () => {
  const decision = {
    ...{ action: 'approve' as const, code: '', decided_by: 'panel', reason: '', scope: 'notebook' as const },
    ...{ decided_at: new Date(2026, 1, 3, 12, 31).getTime() / 1000, edited: true }
  };
  const host = await render(<DecisionLine decision={decision} />);
  expect(host.textContent).toMatch(
    /^Approved by you in the panel · 12:31.* · edited by you · for this notebook$/
  );
  await unmount();
  const none = await render(<DecisionLine decision={{ ...decision, decided_by: 'policy' }} />);
  expect(none.textContent).toBe('');
});

it('a card that appears comes into view where the panel is scrolled, and leaves the keyboard where it is', async () => {
  const scrolled: Element[] = [];
  const scroll = vi.spyOn(Element.prototype, 'scrollIntoView').mockImplementation(function (this: Element) {
    scrolled.push(this);
  });
  const { host } = await card();
  expect(scrolled).toEqual([host.querySelector('h3')]);
  expect(document.activeElement).toBe(document.body);
  await render(<Approval proposal={proposal} position={1} onDecide={() => true} />, services);
  expect(scrolled).toHaveLength(1); // the first of those that wait stays in view
  scroll.mockRestore();
});
