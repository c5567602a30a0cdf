import type { FromPage, IProgressMessage } from '../protocol/messages';
import { FROM_PAGE, insertMessage, markMessage, run, stateMessage, TO_PAGE } from '../testing/golden';
import { FakeKernel } from '../testing/kernel';
import type { Notebook } from '../testing/notebooks';
import { ids, notebookOf, panelOf, states, trackerOf } from '../testing/notebooks';
import { settingsOf } from '../testing/settings';
import { KernelConnection } from './connection';
import { Preferences } from './preferences';

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

const last = (): FromPage => kernel.received[kernel.received.length - 1];

beforeEach(async () => {
  vi.useFakeTimers();
  notebook = notebookOf('%%agent\none', 'x');
  await connect(new FakeKernel({ hasAgent: true }));
});
afterEach(() => {
  connection.dispose();
  vi.useRealTimers();
});

describe('opening', () => {
  it('says the golden hello, on the subshell', async () => {
    connection.dispose();
    notebook.setMetadata('codeagent', { version: 1, ...(FROM_PAGE.hello as { sharing: object }).sharing });
    await connect(
      new FakeKernel({ hasAgent: true }),
      new Preferences(settingsOf({ privacy: 'schema', maxSteps: 6 }))
    );
    expect(kernel.received).toEqual([{ ...FROM_PAGE.hello, notebook: 'eda.ipynb' }]);
    const opened = kernel.posted.find(message => message.header.msg_type === 'comm_open')!;
    expect(opened.header.subshell_id).toBe('sub-1');
    expect(opened.content.target_name).toBe('jupyter-codeagent');
  });

  it('is ready when the state has come', () => {
    expect(connection.model.state.link).toBe('connecting');
    kernel.say(stateMessage());
    expect(connection.model.state.link).toBe('ready');
  });

  it('of another protocol fails and says what to do', () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    kernel.say({ ...stateMessage(), protocol: 2 });
    expect(connection.model.state).toMatchObject({ link: 'failed', problem: /protocol 2.*reload the page/ });
  });
});

it('what the history did not take is passed on, to be displayed', () => {
  const received: unknown[] = [];
  connection.unrecorded.connect((_, message) => received.push(message));
  kernel.say(TO_PAGE.unrecorded);
  expect(received).toEqual([TO_PAGE.unrecorded]);
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
    expect(kernel.received.filter(message => message.type === 'missed')).toHaveLength(1);
    expect(text()).toBe('df');
    await vi.advanceTimersByTimeAsync(1000);
    kernel.say(part(9, 'x'));
    expect(kernel.received.filter(message => message.type === 'missed')).toHaveLength(2);
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

describe('answering', () => {
  beforeEach(() => {
    kernel.say(stateMessage());
  });

  it('a ping with the golden pong', () => {
    kernel.say(TO_PAGE.ping);
    expect(last()).toEqual(FROM_PAGE.pong);
  });

  it('an order about cells with its acknowledgement, and tells of an insertion, for undo', () => {
    const inserted: string[][] = [];
    connection.inserted.connect((_, { cellIds }) => inserted.push(cellIds));
    kernel.say(insertMessage());
    expect(last()).toEqual(FROM_PAGE.inserted);
    kernel.say(markMessage());
    expect(last()).toEqual(FROM_PAGE.marked);
    expect(states(notebook)).toEqual([undefined, undefined, 'accepted', 'accepted']);
    expect(inserted).toEqual([ids(notebook).slice(2)]);
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

it('keeps in the notebook what the user hides, and says it again to a kernel that has restarted', async () => {
  const lists = { shared: { model: 'hidden' }, hidden_columns: { flights: ['tailnum'] } };
  kernel.say(stateMessage());
  expect(notebook.getMetadata('codeagent')).toEqual({ version: 1, ...lists });
  kernel.setStatus('restarting');
  kernel.beacon();
  await settle();
  expect(last()).toMatchObject({ type: 'hello', sharing: lists });
});
