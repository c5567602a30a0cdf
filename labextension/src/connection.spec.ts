import type { NotebookPanel } from '@jupyterlab/notebook';

import { KernelConnection } from './connection';
import { Preferences } from './preferences';
import type { FromPage, IProgressMessage } from './protocol';
import { FROM_PAGE, insertMessage, markMessage, run, stateMessage, TO_PAGE } from './testing/golden';
import { FakeKernel } from './testing/kernel';
import type { Notebook } from './testing/notebooks';
import { settingsOf } from './testing/settings';
import { cellsOf, ids, notebookOf, panelOf, states, trackerOf } from './testing/notebooks';

let kernel: FakeKernel;
let notebook: Notebook;
let connection: KernelConnection;

/** Let promises that are settled already run on, without time going by. */
const settle = async (): Promise<void> => {
  await vi.advanceTimersByTimeAsync(0);
};

async function connect(fake: FakeKernel, preferences = new Preferences()): Promise<void> {
  kernel = fake;
  connection = new KernelConnection(kernel.as, trackerOf(panelOf(notebook)), preferences);
  await settle();
}

const last = (): FromPage => kernel.heard[kernel.heard.length - 1];

beforeEach(async () => {
  vi.useFakeTimers();
  notebook = notebookOf('%%agent\none', 'x');
  await connect(new FakeKernel({ hasAgent: true }));
});
afterEach(() => {
  connection.dispose();
  vi.useRealTimers();
});

it('an answer that is lost with the line does not keep the page from linking again', async () => {
  connection.dispose();
  const fake = new FakeKernel({ hasAgent: true });
  const answer = fake.sendShellMessage.bind(fake);
  const never = { done: new Promise(() => undefined) } as unknown as ReturnType<typeof answer>;
  fake.sendShellMessage = message => {
    answer(message);
    fake.sendShellMessage = answer;
    return never;
  };
  await connect(fake);
  fake.setConnectionStatus('connecting');
  fake.setConnectionStatus('connected');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(kernel.heard.map(message => message.type)).toContain('hello');
});

it('what the history did not take is told to who shows it', () => {
  const told: unknown[] = [];
  connection.unrecorded.connect((_, message) => told.push(message));
  kernel.say(TO_PAGE.unrecorded);
  expect(told).toEqual([TO_PAGE.unrecorded]);
});

describe('the growing text of a run', () => {
  const golden = TO_PAGE.progress as IProgressMessage;
  const running = run({ id: golden.run_id, status: 'running', ended_at: null });
  const part = (offset: number, text: string, stream = 1): IProgressMessage => ({
    ...golden,
    offset,
    text,
    stream
  });
  const text = (): string | undefined => connection.model.state.progress[golden.run_id]?.text;

  beforeEach(() => kernel.say({ ...stateMessage(), runs: [running], progress: part(0, 'df') }));

  it('is put together from its parts, from what the state had on', () => {
    expect(text()).toBe('df');
    kernel.say(part(2, '.sum'));
    kernel.say(part(6, '()'));
    expect(text()).toBe('df.sum()');
    kernel.say(part(2, '.mean()')); // the state may have had more than the parts before it
    expect(text()).toBe('df.mean()');
    kernel.say(part(0, 'x', 2));
    expect(text()).toBe('x');
  });

  it('is asked for as a whole where a part was lost, again if the answer is lost too', async () => {
    kernel.say(part(6, '()'));
    kernel.say(part(8, '\n'));
    expect(last()).toEqual(FROM_PAGE.missed);
    expect(kernel.heard.filter(message => message.type === 'missed')).toHaveLength(1);
    expect(text()).toBe('df');
    await vi.advanceTimersByTimeAsync(1000);
    kernel.say(part(9, 'x'));
    expect(kernel.heard.filter(message => message.type === 'missed')).toHaveLength(2);
    kernel.say(part(0, 'df.sum()\nx'));
    kernel.say(part(10, ' = 1'));
    expect(text()).toBe('df.sum()\nx = 1');
  });

  it('is asked for where its beginning was lost: another text is never mixed with it', () => {
    kernel.say(part(1, 'pples', 2));
    expect(last()).toEqual(FROM_PAGE.missed);
    expect(text()).toBe('df');
  });
});

describe('opening', () => {
  it('says the golden hello, on the subshell', async () => {
    connection.dispose();
    notebook.setMetadata('codeagent', { version: 1, ...(FROM_PAGE.hello as { sharing: object }).sharing });
    await connect(
      new FakeKernel({ hasAgent: true }),
      new Preferences(settingsOf({ privacy: 'schema', maxSteps: 6 }))
    );
    expect(kernel.heard).toEqual([{ ...FROM_PAGE.hello, notebook: 'eda.ipynb' }]);
    const opened = kernel.posted.find(message => message.header.msg_type === 'comm_open')!;
    expect(opened.header.subshell_id).toBe('sub-1');
    expect(opened.content.target_name).toBe('jupyter-codeagent');
  });

  it('is ready when the state has come', () => {
    expect(connection.model.state.link).toBe('connecting');
    kernel.say(stateMessage());
    expect(connection.model.state.link).toBe('ready');
  });

  it('says nothing to a kernel without the agent, until its beacon comes', async () => {
    connection.dispose();
    await connect(new FakeKernel());
    expect(connection.model.state.link).toBe('absent');
    expect(kernel.heard).toEqual([]);
    expect(connection.send({ type: 'pong' })).toBe(false);
    kernel.beacon();
    await settle();
    expect(kernel.heard).toHaveLength(1);
  });

  it('works without subshells', async () => {
    connection.dispose();
    await connect(new FakeKernel({ hasAgent: true, subshells: false }));
    expect(kernel.heard).toHaveLength(1);
  });

  it('repeats a hello that was not answered, then says that it failed', async () => {
    await vi.advanceTimersByTimeAsync(20_000);
    expect(kernel.heard).toHaveLength(3);
    expect(connection.model.state).toMatchObject({ link: 'failed', problem: /did not answer/ });
    connection.retry();
    await settle();
    expect(kernel.heard).toHaveLength(4);
  });

  it('does not repeat a hello that was answered', async () => {
    kernel.say(stateMessage());
    await vi.advanceTimersByTimeAsync(20_000);
    expect(kernel.heard).toHaveLength(1);
  });

  it('of another protocol fails and says what to do', () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    kernel.say({ ...stateMessage(), protocol: 2 });
    expect(connection.model.state).toMatchObject({ link: 'failed', problem: /protocol 2.*reload the page/ });
  });

  it('is opened again when the line was cut: what was said meanwhile may be lost', async () => {
    kernel.say(stateMessage());
    kernel.setConnectionStatus('connecting');
    expect(kernel.heard).toHaveLength(1);
    kernel.setConnectionStatus('connected');
    await settle();
    expect(kernel.heard.map(message => message.type)).toEqual(['hello', 'hello']);
    kernel.say(stateMessage());
    kernel.setConnectionStatus('connected');
    await settle();
    expect(kernel.heard).toHaveLength(2);
  });

  it('begins anew when the kernel restarts', async () => {
    kernel.say(stateMessage());
    kernel.setStatus('restarting');
    expect(connection.model.state).toMatchObject({ link: 'absent', runs: [] });
    kernel.beacon();
    await settle();
    expect(kernel.heard).toHaveLength(2);
  });
});

describe('answering', () => {
  beforeEach(() => {
    kernel.say(stateMessage());
  });

  it('a ping with the golden pong', () => {
    kernel.say(TO_PAGE.ping);
    expect(last()).toEqual(FROM_PAGE.pong);
  });

  it('the golden insertion with the golden acknowledgement', () => {
    kernel.say({ ...insertMessage(), anchor: 'cell-0' });
    expect(last()).toEqual(FROM_PAGE.inserted);
    expect(ids(notebook).slice(1, 3)).toEqual(insertMessage().cells.map(cell => cell.id));
  });

  it('the golden mark with the golden acknowledgement', () => {
    kernel.say(insertMessage());
    kernel.say(markMessage());
    expect(last()).toEqual(FROM_PAGE.marked);
    expect(states(notebook)).toEqual([undefined, undefined, 'accepted', 'accepted']);
  });

  it('a mark only when the notebook has loaded and can be written: until then it is sent again', () => {
    kernel.say(insertMessage());
    const panel = (connection as unknown as { _tracker: { currentWidget: NotebookPanel } })._tracker
      .currentWidget;
    const loading = { ...panel.context, isReady: false };
    const { context, content } = panel;
    Object.assign(panel, { context: loading });
    kernel.say(markMessage());
    expect(last()).toMatchObject({ type: 'marked', ok: false, problem: /still loading/ });
    Object.assign(panel, {
      context,
      content: { ...content, model: { sharedModel: notebook, readOnly: true } }
    });
    kernel.say(markMessage());
    expect(last()).toMatchObject({ type: 'marked', ok: false, problem: /read-only/ });
    expect(states(notebook).slice(2)).toEqual(['pending', 'pending']);
    Object.assign(panel, { content });
    kernel.say(markMessage());
    expect(last()).toEqual(FROM_PAGE.marked);
  });

  it('a mark as discarded by taking out what is pending', () => {
    kernel.say(insertMessage());
    kernel.say({ ...markMessage(), state: 'discarded' });
    expect(last()).toEqual(FROM_PAGE.marked);
    expect(ids(notebook)).toEqual(['cell-0', 'cell-1']);
  });

  it('a repeated insertion without doing it again, also when the user has discarded it meanwhile', () => {
    kernel.say(insertMessage());
    kernel.say({ ...markMessage(), state: 'discarded' });
    kernel.say(insertMessage());
    expect(last()).toEqual(FROM_PAGE.inserted);
    expect(ids(notebook)).toEqual(['cell-0', 'cell-1']);
  });

  it('an insertion that is not possible with the reason, and does it when it has become possible', () => {
    const panel = (connection as unknown as { _tracker: { currentWidget: { content: object } } })._tracker
      .currentWidget;
    const { content } = panel;
    panel.content = { ...content, model: null };
    kernel.say(insertMessage());
    expect(last()).toEqual({
      ...FROM_PAGE.inserted,
      ok: false,
      cell_ids: [],
      problem: 'no notebook of this kernel is open in this page'
    });
    panel.content = content;
    kernel.say(insertMessage());
    expect(last()).toEqual(FROM_PAGE.inserted);
  });

  it('an insertion that replaces an earlier run', () => {
    kernel.say({ ...insertMessage(), cells: cellsOf('old'), id: '1' });
    kernel.say({ ...insertMessage(), replace: ['old'], id: '2' });
    expect(ids(notebook)).not.toContain('old-code');
  });

  it('tells of an insertion, for undo', () => {
    const inserted: string[][] = [];
    connection.inserted.connect((_, { cellIds }) => inserted.push(cellIds));
    kernel.say(insertMessage());
    kernel.say(insertMessage());
    expect(inserted).toHaveLength(1);
  });

  it('what is no message of this protocol with a failed link, and goes on', () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    kernel.say({ type: 'insert', id: 'x' });
    expect(connection.model.state.link).toBe('failed');
    expect(ids(notebook)).toEqual(['cell-0', 'cell-1']);
    kernel.say(stateMessage());
    expect(connection.model.state.link).toBe('ready');
  });
});

describe('what the user hides', () => {
  const lists = { shared: { model: 'hidden' }, hidden_columns: { flights: ['tailnum'] } };
  const kept = (): unknown => notebook.getMetadata('codeagent');

  it('is kept in the notebook’s metadata, and not written again where nothing changed', () => {
    let changes = 0;
    notebook.changed.connect(() => changes++);
    kernel.say(stateMessage());
    expect(kept()).toEqual({ version: 1, ...lists });
    const written = changes;
    kernel.say(TO_PAGE.context);
    kernel.say(stateMessage());
    expect(changes).toBe(written);
    expect(notebook.canUndo()).toBe(false);
  });

  it('is said again to a kernel that has restarted', async () => {
    kernel.say(stateMessage());
    kernel.setStatus('restarting');
    kernel.beacon();
    await settle();
    expect(last()).toMatchObject({ type: 'hello', sharing: lists });
  });

  it('is not written into a read-only notebook', () => {
    const panel = (connection as unknown as { _tracker: { currentWidget: { content: object } } })._tracker
      .currentWidget;
    panel.content = { ...panel.content, model: { sharedModel: notebook, readOnly: true } };
    kernel.say(stateMessage());
    expect(kept()).toBeUndefined();
  });

  it('leaves no entry in a notebook that hides nothing', () => {
    const state = stateMessage();
    state.context.sharing = { shared: {}, hidden_columns: {} };
    kernel.say(stateMessage());
    kernel.say(state);
    expect(kept()).toBeUndefined();
  });
});

describe('what a notebook of another wants always copied', () => {
  beforeEach(async () => {
    connection.dispose();
    notebook.setMetadata('codeagent', { shared: { keys: 'shared', model: 'hidden' } });
    await connect(new FakeKernel({ hasAgent: true }));
  });

  it('is not asked of the kernel, and stays written until somebody agrees', () => {
    expect(kernel.heard).toMatchObject([{ sharing: { shared: { model: 'hidden' } } }]);
    expect(JSON.stringify(kernel.heard)).not.toContain('keys');
    kernel.say(stateMessage());
    expect(notebook.getMetadata('codeagent')).toMatchObject({ shared: { keys: 'shared', model: 'hidden' } });
  });

  it('is asked for again after a restart, once the kernel has said that it is shared', async () => {
    const state = stateMessage();
    state.context.sharing.shared.keys = 'shared';
    kernel.say(state);
    kernel.setStatus('restarting');
    kernel.beacon();
    await settle();
    expect(last()).toMatchObject({ sharing: { shared: { keys: 'shared', model: 'hidden' } } });
  });
});

describe('closing', () => {
  it('closes comm and subshell, and then sends nothing any more', () => {
    connection.dispose();
    expect(kernel.posted[kernel.posted.length - 1].header.msg_type).toBe('comm_close');
    expect(kernel.deletedSubshells).toEqual(['sub-1']);
    expect(connection.send({ type: 'pong' })).toBe(false);
  });
});
