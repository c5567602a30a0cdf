import type { IOutput } from '@jupyterlab/nbformat';
import React from 'react';

import { AgentModel } from '../../comm/agentmodel';
import type { KernelConnection } from '../../comm/connection';
import { insertCells } from '../../notebook/insertion';
import type { FromPage, ISandbox } from '../../protocol/messages';
import { FROM_PAGE, run, stateMessage } from '../../testing/golden';
import { cellsOf, notebookOf, panelOf, trackerOf } from '../../testing/notebooks';
import { change, eventually, press, render, servicesOf, unmount } from '../../testing/render';
import { Outputs } from '../controls/outputs';
import { Now } from '../now/now';
import { SandboxBadge } from '../now/sandboxbadge';
import { Tabs } from '../tabs';
import { Run } from './run';

afterEach(unmount);

describe('outputs', () => {
  const html = (text: string): IOutput[] => [
    { output_type: 'display_data', data: { 'text/html': text, 'text/plain': 'plain' }, metadata: {} }
  ];

  it('are shown, without anything in them that acts', async () => {
    const host = await render(
      <Outputs
        outputs={html(
          '<b>kept</b><script>window.pwned=1</script><img src=x onerror="window.pwned=1"><iframe src=x>'
        )}
      />
    );
    await eventually(() => expect(host.querySelector('b')?.textContent).toBe('kept'));
    expect(host.querySelectorAll('script, iframe, [onerror]')).toHaveLength(0);
    expect((window as { pwned?: number }).pwned).toBeUndefined();
  });

  it('that are JavaScript are not run', async () => {
    const host = await render(
      <Outputs
        outputs={[
          {
            output_type: 'display_data',
            data: { 'application/javascript': 'window.pwned = 1', 'text/plain': 'plain' },
            metadata: {}
          }
        ]}
      />
    );
    await eventually(() => expect(host.textContent).toContain('plain'));
    expect((window as { pwned?: number }).pwned).toBeUndefined();
  });

  it('can be taken away again', async () => {
    const host = await render(<Outputs outputs={html('<b>x</b>')} />);
    await eventually(() => expect(host.querySelector('b')).not.toBeNull());
    await expect(unmount()).resolves.toBeUndefined();
  });
});

async function unfold(fold: HTMLDetailsElement): Promise<void> {
  await change(() => {
    fold.open = true;
    fold.dispatchEvent(new Event('toggle'));
  });
}

describe('a run', () => {
  it('shows prompt, error and answer as text, never as HTML', async () => {
    const hostile = '<img src=x onerror="window.pwned=1">';
    const shown = run({ answer: hostile, error: hostile, notes: [hostile], status: 'failed' });
    shown.request.prompt = hostile;
    const host = await render(<Run run={shown} />);
    expect(host.querySelector('img[src=x]')).toBeNull();
    expect(host.textContent!.split(hostile)).toHaveLength(5);
  });

  it('has Stop and the growing reply only while it runs', async () => {
    const progress = {
      ...{
        type: 'progress' as const,
        run_id: 'r',
        phase: 'model' as const,
        step: 1,
        stream: 1,
        text: 'flights.gro'
      },
      ...{ elapsed_s: 1, usage: run().usage, calls: [], call_count: 0, receivedAt: Date.now() }
    };
    let stops = 0;
    const running = run({ status: 'running', ended_at: null, steps: [] });
    const host = await render(<Run run={running} progress={progress} onStop={() => stops++} />);
    expect(host.querySelector('.jp-CodeAgent-stream')!.textContent).toBe('flights.gro');
    await press(host, 'Stop this run');
    expect(stops).toBe(1);
    await unmount();
    const ended = await render(<Run run={run()} progress={progress} onStop={() => stops++} />);
    await expect(press(ended, 'Stop this run')).rejects.toThrow('no button');
    expect(ended.querySelector('.jp-CodeAgent-stream')).toBeNull();
  });

  it('asks a next question at a press, and shows none where no kernel can answer it', async () => {
    const asked: string[] = [];
    const shown = run({ next_questions: ['Which rows?', '<i>x</i>'] });
    const host = await render(<Run run={shown} onNext={question => asked.push(question)} />);
    await press(host, 'Which rows?');
    expect(asked).toEqual(['Which rows?']);
    expect(host.querySelector('i')).toBeNull();
    await unmount();
    const recorded = await render(<Run run={shown} />);
    await expect(press(recorded, 'Which rows?')).rejects.toThrow('no button');
  });

  it('opens the last step of a failed run, and none of one whose result is shown', async () => {
    const open = async (status: 'ok' | 'failed'): Promise<boolean[]> => {
      const host = await render(<Run run={run({ status })} />);
      const steps = [
        ...host.querySelectorAll<HTMLDetailsElement>(
          '.jp-CodeAgent-timeline > li[data-kind=step] > div > details'
        )
      ];
      const found = steps.map(step => step.open);
      await unmount();
      return found;
    };
    expect(await open('failed')).toEqual([false, true]);
    expect(await open('ok')).toEqual([false, false]);
  });

  it('says what each request to the model held, and where none was sent', async () => {
    const sent = async (changes: object): Promise<string> => {
      const host = await render(<Run run={run(changes)} />);
      await unfold(host.querySelector('.jp-CodeAgent-timeline > li[data-kind=variables] details')!);
      const fold = [...host.querySelectorAll('details')].find(d =>
        d.querySelector('summary')!.textContent!.includes('Sent to the model')
      )!;
      await unfold(fold);
      const text = fold.textContent!;
      await unmount();
      return text;
    };
    const calls = run().model_calls!;
    const held = 'the question, names and types of variables, statistics and values of variables';
    expect(await sent({})).toContain(`For a program: ${held} 100 tokens in · 7 out`);
    expect(await sent({})).toContain(`${held}, the error of the code`);
    expect(await sent({})).toContain('Your house rules:Amounts are in thousands of euros.');
    expect(await sent({ house_rules: undefined })).not.toContain('Your house rules');
    const refused = calls.map(call => ({ ...call, sent: false }));
    expect(await sent({ model_calls: refused })).toContain('Nothing was sent.');
    expect(await sent({ model_calls: [], usage: { ...run().usage, calls: 0 } })).toContain(
      'Nothing was sent.'
    );
    expect(await sent({ model_calls: undefined })).toContain('Sent to embedded, on this machine');
  });

  it('says whether the model is on another machine', async () => {
    const described = async (remote: boolean): Promise<string> => {
      const shown = run();
      Object.assign(shown.request, { remote, server: 'models.example' });
      const host = await render(<Run run={shown} />);
      await unfold(host.querySelector('.jp-CodeAgent-timeline > li[data-kind=variables] details')!);
      const fold = [...host.querySelectorAll('details')].find(d =>
        d.querySelector('summary')!.textContent!.includes('Sent to the model')
      )!;
      await unfold(fold);
      const text = fold.textContent!;
      await unmount();
      return text;
    };
    expect(await described(true)).toContain('Sent to models.example, on another machine');
    expect(await described(false)).toContain('on this machine');
  });
});

describe('the badge of the sandbox', () => {
  const kind = async (changes: Partial<ISandbox>): Promise<string | undefined> => {
    const host = await render(<SandboxBadge sandbox={{ ...stateMessage().sandbox!, ...changes }} />);
    return host.querySelector<HTMLElement>('.jp-CodeAgent-badge')!.dataset.kind;
  };

  it('is good where everything that was tried was refused', async () => {
    expect(await kind({})).toBe('good');
  });
  it('is bad without isolation, and where something got through', async () => {
    expect(await kind({ level: 'none' })).toBe('bad');
    await unmount();
    expect(await kind({ open: ['tcp'] })).toBe('bad');
  });
});

describe('Now', () => {
  const linked = (): {
    connection: KernelConnection;
    sent: FromPage[];
    model: AgentModel;
    retries: number[];
  } => {
    const [sent, retries, model] = [[] as FromPage[], [] as number[], new AgentModel()];
    const connection = {
      kernel: { id: 'k' },
      model,
      send: (message: FromPage) => sent.push(message) > 0,
      retry: () => retries.push(1)
    } as unknown as KernelConnection;
    return { connection, sent, model, retries };
  };
  const now = async (connection: KernelConnection | null, withPending = false): Promise<HTMLElement> => {
    const notebook = notebookOf('%%agent\none');
    if (withPending) {
      insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('r') });
    }
    const services = servicesOf({ tracker: trackerOf(panelOf(notebook)) });
    Object.assign(services.connections, { current: connection });
    return render(<Now />, services);
  };

  it('without a notebook says what to do', async () => {
    expect((await render(<Now />)).textContent).toContain('Open a notebook');
  });

  it('without a kernel still shows what is pending', async () => {
    const host = await now(null, true);
    expect(host.textContent).toContain('no kernel');
    expect(host.textContent).toContain('run_r()');
  });

  it('without the agent says what to run, and looks again', async () => {
    const { connection, model, retries } = linked();
    model.setLink('absent');
    const host = await now(connection);
    expect(host.textContent).toContain('%load_ext jupyter_codeagent');
    await press(host, 'Refresh');
    expect(retries).toHaveLength(1);
  });

  it('with a failed link says why', async () => {
    const { connection, model } = linked();
    model.setLink('failed', 'the reason');
    expect((await now(connection)).textContent).toContain('the reason');
  });

  it('shows how to ask, with the magic as it has to be written', async () => {
    const { connection, model } = linked();
    model.apply({ ...stateMessage(), runs: [], proposals: [] });
    expect((await now(connection)).textContent).toContain('%%agent\nWhich');
  });

  it('sends the golden stop', async () => {
    const { connection, model, sent } = linked();
    model.apply({ ...stateMessage(), runs: [run({ status: 'running', ended_at: null })] });
    const host = await now(connection);
    await press(host, 'Stop this run');
    expect(sent).toEqual([FROM_PAGE.stop]);
  });

  it('shows what runs above the pending cells, and what has ended below them', async () => {
    const { connection, model } = linked();
    const isAbove = (host: HTMLElement) =>
      host.innerHTML.indexOf('jp-CodeAgent-pendingList') > host.innerHTML.indexOf('Stop this run');
    model.apply({ ...stateMessage(), proposals: [], runs: [run({ status: 'running', ended_at: null })] });
    const host = await now(connection, true);
    expect(host.innerHTML).toContain('Stop this run');
    expect(isAbove(host)).toBe(true);
    const [list] = host.querySelectorAll('.jp-CodeAgent-pendingList');
    await change(() => model.apply({ ...stateMessage(), proposals: [], runs: [run()] }));
    expect(host.innerHTML).not.toContain('Stop this run');
    expect(host.querySelector('.jp-CodeAgent-pendingList')).toBe(list);
  });

  it('shows a decision as on its way until the kernel has resolved it', async () => {
    const { connection, model, sent } = linked();
    model.apply({ ...stateMessage(), runs: [] });
    const host = await now(connection);
    await eventually(() => expect(host.querySelector('button:disabled')).toBeNull());
    await press(host, 'Approve');
    expect(sent).toMatchObject([{ type: 'decision', action: 'approve' }]);
    expect(host.textContent).toContain('Approving …');
    await change(() => model.apply({ type: 'resolved', proposal_id: '9d1f', action: 'approve' }));
    expect(host.querySelector('.jp-CodeAgent-approval')).toBeNull();
  });

  it('lists all decisions that wait, the oldest first, and counts them', async () => {
    const { connection, model } = linked();
    const [first] = stateMessage().proposals;
    const proposals = [first, { ...first, id: 'later', kind: 'apply' as const }];
    model.apply({ ...stateMessage(), runs: [], proposals });
    const host = await now(connection);
    expect(host.textContent).toContain('2 decisions are waiting for you.');
    const kinds = [...host.querySelectorAll<HTMLElement>('.jp-CodeAgent-approval')].map(
      one => one.dataset.kind
    );
    expect(kinds).toEqual(['run', 'apply']);
  });
});

it('the arrow keys go from tab to tab, and only the selected one is in the tab order', async () => {
  const selected: string[] = [];
  const tabs = [
    { id: 'a', label: 'A' },
    { id: 'b', label: 'B' }
  ];
  const host = await render(<Tabs label="x" tabs={tabs} selected="a" onSelect={id => selected.push(id)} />);
  const [first, second] = host.querySelectorAll('button');
  expect([first.tabIndex, second.tabIndex]).toEqual([0, -1]);
  await change(() => first.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true })));
  expect([selected, document.activeElement]).toEqual([['b'], second]);
});
