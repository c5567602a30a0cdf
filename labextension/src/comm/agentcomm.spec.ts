import type { IHelloMessage } from '../protocol/messages';
import { readMessage } from '../protocol/messages';
import { FROM_PAGE, stateMessage } from '../testing/golden';
import { FakeKernel } from '../testing/kernel';
import { AgentComm } from './agentcomm';
import { AgentModel } from './agentmodel';

let kernel: FakeKernel;
let model: AgentModel;
let comm: AgentComm;

/** Let promises that are settled already run on, without time going by. */
const settle = async (): Promise<void> => {
  await vi.advanceTimersByTimeAsync(0);
};

async function connect(
  fake: FakeKernel,
  ready: () => Promise<unknown> = async () => undefined
): Promise<void> {
  kernel = fake;
  model = new AgentModel();
  comm = new AgentComm({
    kernel: kernel.as,
    model,
    ready,
    hello: () => FROM_PAGE.hello as IHelloMessage,
    received: data => model.apply(readMessage(data) as Parameters<AgentModel['apply']>[0])
  });
  await settle();
}

beforeEach(async () => {
  vi.useFakeTimers();
  await connect(new FakeKernel({ hasAgent: true }));
});
afterEach(() => {
  comm.dispose();
  vi.useRealTimers();
});

describe('opening', () => {
  it('says hello on the subshell', () => {
    expect(kernel.received).toEqual([FROM_PAGE.hello]);
    const opened = kernel.posted.find(message => message.header.msg_type === 'comm_open')!;
    expect(opened.header.subshell_id).toBe('sub-1');
    expect(opened.content.target_name).toBe('jupyter-codeagent');
  });

  it('waits with its hello until all is known that it tells', async () => {
    comm.dispose();
    let known = (): void => undefined;
    const ready = new Promise<void>(resolve => (known = resolve));
    await connect(new FakeKernel({ hasAgent: true }), () => ready);
    expect(kernel.received).toEqual([]);
    known();
    await settle();
    expect(kernel.received).toHaveLength(1);
  });

  it('says nothing to a kernel without the agent, until its beacon comes', async () => {
    comm.dispose();
    await connect(new FakeKernel());
    expect(model.state.link).toBe('absent');
    expect(kernel.received).toEqual([]);
    expect(comm.send({ type: 'pong' })).toBe(false);
    kernel.beacon();
    await settle();
    expect(kernel.received).toHaveLength(1);
  });

  it('works without subshells', async () => {
    comm.dispose();
    await connect(new FakeKernel({ hasAgent: true, subshells: false }));
    expect(kernel.received).toHaveLength(1);
  });

  it('repeats a hello that was not answered, then says that it failed', async () => {
    await vi.advanceTimersByTimeAsync(20_000);
    expect(kernel.received).toHaveLength(3);
    expect(model.state).toMatchObject({ link: 'failed', problem: /did not answer/ });
    comm.retry();
    await settle();
    expect(kernel.received).toHaveLength(4);
  });

  it('does not repeat a hello that was answered', async () => {
    kernel.say(stateMessage());
    await vi.advanceTimersByTimeAsync(20_000);
    expect(kernel.received).toHaveLength(1);
  });

  it('is opened again when the line was cut: what was said meanwhile may be lost', async () => {
    kernel.say(stateMessage());
    kernel.setConnectionStatus('connecting');
    expect(kernel.received).toHaveLength(1);
    kernel.setConnectionStatus('connected');
    await settle();
    expect(kernel.received.map(message => message.type)).toEqual(['hello', 'hello']);
    kernel.say(stateMessage());
    kernel.setConnectionStatus('connected');
    await settle();
    expect(kernel.received).toHaveLength(2);
  });

  it('begins anew when the kernel restarts', async () => {
    kernel.say(stateMessage());
    kernel.setStatus('restarting');
    expect(model.state).toMatchObject({ link: 'absent', runs: [] });
    kernel.beacon();
    await settle();
    expect(kernel.received).toHaveLength(2);
  });

  it('an answer that is lost with the line does not keep the page from linking again', async () => {
    comm.dispose();
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
    expect(kernel.received.map(message => message.type)).toContain('hello');
  });
});

describe('closing', () => {
  it('closes comm and subshell, and then sends nothing any more', () => {
    comm.dispose();
    expect(kernel.posted[kernel.posted.length - 1].header.msg_type).toBe('comm_close');
    expect(kernel.deletedSubshells).toEqual(['sub-1']);
    expect(comm.send({ type: 'pong' })).toBe(false);
  });
});
