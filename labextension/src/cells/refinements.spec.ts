import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import { AgentModel } from '../comm/agentmodel';
import type { KernelConnection } from '../comm/connection';
import type { KernelConnections } from '../comm/connections';
import type { FromPage, IProgressMessage } from '../protocol/messages';
import type { IRun } from '../protocol/run';
import { run, stateMessage, TO_PAGE } from '../testing/golden';
import { notebookOf, panelOf } from '../testing/notebooks';
import { Refinements } from './refinements';

interface IAsked {
  code: string;
  options: Record<string, unknown>;
  metadata: unknown;
}

let asked: IAsked[];
/** Ends the request that was made last. */
let reply: (content: object) => Promise<void>;
let cancel: (error: Error) => Promise<void>;
let sent: FromPage[];
let model: AgentModel;
let refinements: Refinements;
const panel = panelOf(notebookOf('%%agent\none'));
const first = run({ id: 'a1b2', status: 'ok' });
const second = (changes: Partial<IRun>): IRun =>
  run({
    id: 'c3d4',
    request: { ...first.request, refines: 'a1b2', refinement: 'top 10' },
    ...changes
  });
const apply = (changed: IRun): void => model.apply({ type: 'run', run: changed });

beforeEach(() => {
  [asked, sent, model] = [[], [], new AgentModel()];
  model.apply({ ...stateMessage(), runs: [first] });
  const kernel = {
    requestExecute: (content: { code: string }, _: boolean, metadata: unknown) => {
      const { code, ...options } = content;
      asked.push({ code, options, metadata });
      const done = new Promise((resolve, reject) => {
        reply = async ended => {
          resolve({ content: ended });
          await Promise.resolve();
        };
        cancel = async error => reject(error);
      });
      return { done, msg: { header: { msg_id: `request-${asked.length}` } } };
    }
  };
  Object.assign(panel.sessionContext, { session: { kernel } });
  const connection = { model, send: (message: FromPage) => sent.push(message) > 0 };
  const added = new Signal<object, KernelConnection>({});
  const connections = { added, of: () => connection } as unknown as KernelConnections;
  refinements = new Refinements({ connections, trans: nullTranslator.load('x') });
  added.emit(connection as unknown as KernelConnection);
});

const state = (): string | undefined => refinements.of(panel, 'a1b2')?.state;
const words = (): string | undefined => refinements.of(panel, 'a1b2')?.message;

it('is asked of the kernel beside the notebook, and gives up nothing that is queued behind it', () => {
  void refinements.ask(panel, 'a1b2', '  "why"\\ or\u2028why not?  ');
  expect(asked).toEqual([
    {
      code: `get_ipython().run_line_magic('agent', "refine a1b2 \\"why\\"\\\\ or why not?")`,
      options: { store_history: false, allow_stdin: false, stop_on_error: false },
      metadata: { cellId: first.request.cell_id }
    }
  ]);
});

it('waits for the kernel, then says what the run does, and is over with the reply', async () => {
  const done = refinements.ask(panel, 'a1b2', 'top 10');
  expect([state(), words()]).toEqual(['queued', 'Waiting for the kernel …']);
  apply(second({ status: 'running' }));
  const progress = { ...(TO_PAGE.progress as IProgressMessage), run_id: 'c3d4', offset: 0 };
  model.apply({ ...progress, phase: 'sandbox' });
  expect([state(), words()]).toEqual(['running', 'Running in the sandbox …']);
  apply(second({ status: 'ok' }));
  await reply({ status: 'ok' });
  await done;
  expect(state()).toBeUndefined();
});

it('tells of each step that it is there', () => {
  const emitted: string[] = [];
  refinements.changed.connect((_, runId) => emitted.push(runId));
  apply(second({ status: 'running' }));
  expect(emitted).toEqual(['a1b2']);
  expect(refinements.of(panel, 'a1b2')).toMatchObject({ state: 'running', text: 'top 10' });
  apply(second({ status: 'ok' }));
  expect([emitted, state()]).toEqual([['a1b2', 'a1b2'], undefined]);
});

it('one at a time: Enter again asks nothing, after a failure it does', async () => {
  const done = refinements.ask(panel, 'a1b2', 'top 10');
  await refinements.ask(panel, 'a1b2', 'top 20');
  expect(asked).toHaveLength(1);
  await reply({ status: 'error', ename: 'ModelError', evalue: 'The server does not answer.\nmore' });
  await done;
  expect([state(), words()]).toEqual(['failed', 'The server does not answer.']);
  void refinements.ask(panel, 'a1b2', 'top 20');
  expect([asked.length, state()]).toEqual([2, 'queued']);
});

it.each([
  [{ status: 'aborted' }, 'Not asked: a cell that ran before it failed.'],
  [{ status: 'error', ename: 'x', evalue: '' }, 'The kernel reported only: x']
])('what the kernel answers without a run is said: %j', async (answer, said) => {
  const done = refinements.ask(panel, 'a1b2', 'top 10');
  await reply(answer);
  await done;
  expect([state(), words()]).toEqual(['failed', said]);
});

it('a kernel that is restarted meanwhile is said, as is one that does not know the run', async () => {
  const done = refinements.ask(panel, 'a1b2', 'top 10');
  await cancel(new Error('Canceled'));
  await done;
  expect([state(), words()]).toEqual(['failed', 'Canceled']);
  await refinements.ask(panel, 'unknown', 'top 10');
  expect(refinements.of(panel, 'unknown')?.message).toContain('no longer has this result');
  expect(asked).toHaveLength(1);
});

it('a stop before the run begins names the request; one that came too late goes to the run, once', async () => {
  const done = refinements.ask(panel, 'a1b2', 'top 10');
  refinements.stop(panel, 'a1b2');
  expect([state(), sent]).toEqual(['stopping', [{ type: 'stop', run_id: 'request-1' }]]);
  apply(second({ status: 'running' }));
  apply(second({ status: 'running', context: 'more' }));
  expect([state(), sent.slice(1)]).toEqual(['stopping', [{ type: 'stop', run_id: 'c3d4' }]]);
  apply(second({ status: 'stopped' }));
  await reply({ status: 'error', ename: 'StoppedError', evalue: 'Stopped by you; no cells were inserted.' });
  await done;
  expect([state(), words()]).toEqual(['failed', 'Stopped; the result is unchanged.']);
});

it('an empty line asks nothing', async () => {
  await refinements.ask(panel, 'a1b2', '   ');
  expect(asked).toEqual([]);
});
