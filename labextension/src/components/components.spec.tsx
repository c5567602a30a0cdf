import type { IOutput } from '@jupyterlab/nbformat';
import React from 'react';

import type { KernelConnection } from '../connection';
import type { IRunLine } from '../history';
import { AgentModel } from '../model';
import type { FromPage, IDecisionMessage, IProposal, ISandbox } from '../protocol';
import { FROM_PAGE, run, stateMessage } from '../testing/golden';
import { cellsOf, notebookOf, panelOf, trackerOf } from '../testing/notebooks';
import { change, enter, eventually, press, render, servicesOf, unmount } from '../testing/render';
import { insertCells } from '../notebook';
import { Approval } from './approval';
import { History } from './history';
import { Now } from './now';
import { Outputs } from './outputs';
import { Run } from './run';
import { SandboxBadge } from './sandbox';
import { Tabs } from './tabs';

afterEach(unmount);

describe('the approval card', () => {
  const proposal: IProposal = { ...stateMessage().proposals[0], id: '9d1f', code: 'flights.head(3)' };
  const card = async (changes: Partial<IProposal> = {}): Promise<[HTMLElement, IDecisionMessage[]]> => {
    const decided: IDecisionMessage[] = [];
    const shown = { ...proposal, ...changes };
    return [await render(<Approval proposal={shown} onDecide={d => decided.push(d)} />), decided];
  };

  it('sends the golden decision', async () => {
    const [host, decided] = await card();
    await change(() => host.querySelector<HTMLInputElement>('input[type=checkbox]')!.click());
    await press(host, 'Approve');
    expect(decided).toEqual([FROM_PAGE.decision]);
  });

  it('says yes only once if nothing else is chosen', async () => {
    const [host, decided] = await card();
    await press(host, 'Approve');
    expect(decided[0].scope).toBe('once');
  });

  it('rejects with a reason, never with code, and never for the whole notebook', async () => {
    const [host, decided] = await card();
    await change(() => host.querySelector<HTMLInputElement>('input[type=checkbox]')!.click());
    await enter(host.querySelector<HTMLInputElement>('input[type=text]')!, 'too slow');
    await press(host, 'Reject');
    expect(decided).toEqual([
      { type: 'decision', proposal_id: '9d1f', action: 'reject', reason: 'too slow', scope: 'once' }
    ]);
  });

  it.each([
    ['run', 'Run this in the sandbox?'],
    ['apply', 'Run this in YOUR kernel?'],
    ['overwrite', 'Overwrite your variable?'],
    ['mount', 'Let the sandbox read your files?']
  ] as const)('of kind %s asks: %s', async (kind, title) => {
    const [host] = await card({ kind });
    expect(host.querySelector('h3')!.textContent).toBe(title);
    expect(host.textContent).toContain('flights.head(3)');
  });

  it('to read files is answered for these files alone, and their paths cannot be edited', async () => {
    const [host, decided] = await card({ kind: 'mount', code: '/home/me/trips.parquet  (3.0 MiB)' });
    expect(host.querySelector('pre')!.textContent).toContain('/home/me/trips.parquet');
    expect(host.querySelector('.jp-CodeAgent-editor, input[type=checkbox]')).toBeNull();
    await press(host, 'Approve');
    expect(decided[0].scope).toBe('once');
    expect(decided[0].action).toBe('approve');
  });
});

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
      ...{ type: 'progress' as const, run_id: 'r', phase: 'model' as const, step: 1, text: 'flights.gro' },
      ...{ elapsed_s: 1, usage: run().usage, receivedAt: Date.now() }
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

  it('opens the last step of a failed run, and none of one whose result is shown', async () => {
    const open = async (status: 'ok' | 'failed'): Promise<boolean[]> => {
      const host = await render(<Run run={run({ status })} />);
      const steps = [...host.querySelectorAll<HTMLDetailsElement>('.jp-CodeAgent-steps > li > details')];
      const found = steps.map(step => step.open);
      await unmount();
      return found;
    };
    expect(await open('failed')).toEqual([false, true]);
    expect(await open('ok')).toEqual([false, false]);
  });

  it('says whether the model is on another machine', async () => {
    const told = async (remote: boolean): Promise<string> => {
      const shown = run();
      Object.assign(shown.request, { remote, server: 'models.example' });
      const host = await render(<Run run={shown} />);
      const fold = [...host.querySelectorAll('details')].find(d =>
        d.textContent!.includes('Told the model')
      )!;
      await change(() => {
        fold.open = true;
        fold.dispatchEvent(new Event('toggle'));
      });
      const text = fold.textContent!;
      await unmount();
      return text;
    };
    expect(await told(true)).toContain('Sent to models.example, on another machine');
    expect(await told(false)).toContain('on this machine');
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
    await press(host, 'Look again');
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

  it('sends the golden share and stop', async () => {
    const { connection, model, sent } = linked();
    model.apply({ ...stateMessage(), runs: [run({ status: 'running', ended_at: null })] });
    const host = await now(connection);
    await enter(host.querySelector<HTMLSelectElement>('select[aria-label="Sharing of flights"]')!, 'shared');
    await press(host, 'Stop this run');
    expect(sent).toEqual([FROM_PAGE.share, FROM_PAGE.stop]);
    expect(model.state.context.variables[0].shared).toBe('shared');
  });

  it('takes a decided proposal away', async () => {
    const { connection, model, sent } = linked();
    model.apply({ ...stateMessage(), runs: [] });
    const host = await now(connection);
    await press(host, 'Approve');
    expect(sent).toMatchObject([{ type: 'decision', action: 'approve' }]);
    expect(host.querySelector('.jp-CodeAgent-approval')).toBeNull();
  });
});

describe('History', () => {
  const line = (id: string): IRunLine => ({
    ...{
      id,
      prompt: `prompt ${id}`,
      notebook: 'a/b.ipynb',
      cell_id: null,
      model: 'm',
      status: 'ok' as const
    },
    ...{ started_at: 1, ended_at: 2, steps: 1, prompt_tokens: 1, completion_tokens: 1 },
    ...{ cell_state: 'pending' as const, error: '' }
  });
  const all = Array.from({ length: 35 }, (_, i) => line(`r${i}`));
  const store = {
    list: async ({ search = '', limit = 30, offset = 0 }) => {
      const found = all.filter(run => run.prompt.includes(search));
      return { total: found.length, runs: found.slice(offset, offset + limit) };
    },
    get: async (id: string) => run({ id })
  };
  const items = (host: HTMLElement): number => host.querySelectorAll('.jp-CodeAgent-history > li').length;
  const history = async (changes = {}): Promise<HTMLElement> => {
    const host = await render(<History version={0} />, servicesOf({ history: { ...store, ...changes } }));
    await change(() => new Promise(resolve => setTimeout(resolve, 0)));
    return host;
  };

  it('lists, pages, and searches', async () => {
    const host = await history();
    await eventually(() => expect(items(host)).toBe(30));
    await press(host, 'More');
    await eventually(() => expect(items(host)).toBe(35));
    await enter(host.querySelector('input')!, 'r34');
    await eventually(() => expect(items(host)).toBe(1));
    await enter(host.querySelector('input')!, 'nothing like it');
    await eventually(() => expect(host.textContent).toContain('No run matches.'));
  });

  it('opens a run and goes back, also when it has outputs', async () => {
    const host = await history();
    await eventually(() => expect(items(host)).toBe(30));
    await change(() => host.querySelector<HTMLElement>('.jp-CodeAgent-history button')!.click());
    await eventually(() => expect(host.textContent).toContain('Insert again'));
    await press(host, '← All runs');
    await eventually(() => expect(items(host)).toBe(30));
  });

  it('says what the server said', async () => {
    const host = await history({ list: () => Promise.reject(new Error('The history is damaged.')) });
    await eventually(() =>
      expect(host.querySelector('[role=alert]')?.textContent).toBe('The history is damaged.')
    );
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
