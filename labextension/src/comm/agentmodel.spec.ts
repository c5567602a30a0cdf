import type { IColumnsMessage, IProgressMessage, IProposalMessage } from '../protocol/messages';
import { run, stateMessage, TO_PAGE } from '../testing/golden';
import { AgentModel } from './agentmodel';
import { currentRun } from './agentstate';

const progress = (runId: string): IProgressMessage => ({
  ...(TO_PAGE.progress as IProgressMessage),
  run_id: runId
});
const proposal = (id: string): IProposalMessage => {
  const golden = TO_PAGE.proposal as IProposalMessage;
  return { ...golden, proposal: { ...golden.proposal, id } };
};

let model: AgentModel;
beforeEach(() => {
  model = new AgentModel();
  model.apply({ ...stateMessage(), runs: [], proposals: [] });
});

it('the state message replaces everything and makes the link ready', () => {
  model.setLink('failed', 'why');
  model.apply(stateMessage());
  const golden = stateMessage();
  expect(model.state).toMatchObject({
    link: 'ready',
    problem: '',
    model: golden.model,
    context: golden.context,
    runs: golden.runs,
    proposals: golden.proposals
  });
});

it('a run replaces the one of the same id where it is, a new one comes last', () => {
  model.apply({ type: 'run', run: run({ id: 'a', status: 'running' }) });
  model.apply({ type: 'run', run: run({ id: 'b' }) });
  model.apply({ type: 'run', run: run({ id: 'a', status: 'ok' }) });
  expect(model.state.runs.map(r => [r.id, r.status])).toEqual([
    ['a', 'ok'],
    ['b', 'ok']
  ]);
});

it('progress is kept while its run is under way and forgotten with its end', () => {
  model.apply({ type: 'run', run: run({ id: 'a', status: 'running' }) });
  model.apply(progress('a'));
  expect(model.state.progress.a.text).toBe(progress('a').text);
  model.apply({ type: 'run', run: run({ id: 'a', status: 'failed' }) });
  expect(model.state.progress).toEqual({});
});

it('a proposal is announced once, also when the heartbeat repeats it, and goes when it is resolved', () => {
  const announced: string[] = [];
  model.proposed.connect((_, p) => announced.push(p.id));
  model.apply(proposal('p'));
  model.apply({ ...stateMessage(), proposals: [proposal('p').proposal] });
  expect(announced).toEqual(['p']);
  model.apply({ type: 'resolved', proposal_id: 'p', action: 'reject' });
  expect(model.state.proposals).toEqual([]);
});

it('a proposal that came while the page was away is announced by the state', () => {
  const announced: string[] = [];
  model.proposed.connect((_, p) => announced.push(p.id));
  model.apply({ ...stateMessage(), proposals: [proposal('q').proposal] });
  expect(announced).toEqual(['q']);
});

it('a run is announced when it starts, not at its later steps nor when it is over at first sight', () => {
  const started: string[] = [];
  model.runStarted.connect((_, r) => started.push(r.id));
  model.apply({ type: 'run', run: run({ id: 'a', status: 'running' }) });
  model.apply({ type: 'run', run: run({ id: 'a', status: 'running' }) });
  model.apply({ type: 'run', run: run({ id: 'b', status: 'ok' }) });
  expect(started).toEqual(['a']);
});

it('when the agent is gone, what it said is no longer true; when the link fails, it still is', () => {
  model.apply(stateMessage());
  model.setLink('failed', 'no answer');
  expect(model.state.runs).toHaveLength(1);
  model.setLink('absent');
  expect(model.state).toMatchObject({ link: 'absent', runs: [], proposals: [], model: '' });
});

it('the last 50 runs are kept, and what was brought back from them', () => {
  model.apply({ type: 'run', run: run({ id: 'first' }) });
  model.setPulling('first', 'total');
  for (let i = 0; i < 50; i++) {
    model.apply({ type: 'run', run: run({ id: `r${i}` }) });
  }
  expect(model.state.runs).toHaveLength(50);
  expect(model.state.runs[49].id).toBe('r49');
  expect(model.state.pulls).toEqual({});
});

it('snapshots are not changed afterwards', () => {
  const before = model.state;
  model.apply({ type: 'run', run: run({ id: 'a' }) });
  expect(before.runs).toEqual([]);
});

it('messages that the connection answers change nothing and are not announced', () => {
  let changes = 0;
  model.changed.connect(() => changes++);
  model.apply({ type: 'ping' });
  expect(changes).toBe(0);
});

it('the switch of a variable shows at once', () => {
  model.apply(stateMessage());
  model.setShared('s1', 'flights', 'hidden');
  expect(model.state.context.variables.find(v => v.name === 'flights')?.shared).toBe('hidden');
});

it('switches of columns show at once, also among those that were searched', () => {
  model.apply(stateMessage());
  model.apply(TO_PAGE.columns as IColumnsMessage);
  model.setColumns('s1', 'flights', ['tailnum'], false);
  expect(model.state.context.variables[0].columns.map(c => c.hidden)).toEqual([false, false]);
  expect(model.state.found!.columns.map(c => c.hidden)).toEqual([false]);
});

it('a switch stays set until the kernel has confirmed it, whatever contexts it sent before', () => {
  model.apply(stateMessage());
  const { context } = stateMessage();
  const shared = (): string => model.state.context.variables[0].shared;
  const before = context.variables[0].shared;
  model.setShared('s1', 'flights', 'hidden');
  model.setShared('s2', 'flights', 'shared');
  model.apply({ type: 'context', context, heard: '' });
  expect(shared()).toBe('shared');
  model.apply({ type: 'context', context, heard: 's1' });
  expect(shared()).toBe('shared');
  model.apply({ type: 'context', context, heard: 's2' });
  expect(shared()).toBe(before);
});

it('a switch that was lost with its connection is reset', () => {
  model.apply(stateMessage());
  model.setShared('s1', 'flights', 'hidden');
  model.apply(stateMessage());
  expect(model.state.context).toEqual(stateMessage().context);
});

it('the context message replaces what the state said of the variables', () => {
  model.apply(stateMessage());
  const { context } = stateMessage();
  model.apply({ type: 'context', context: { ...context, variables: [], tokens: 7 }, heard: '' });
  expect(model.state.context).toMatchObject({ variables: [], tokens: 7 });
  expect(model.state.runs).toEqual(stateMessage().runs);
});

it('the current run is the one under way, else the last', () => {
  expect(currentRun(model.state)).toBeNull();
  model.apply({ type: 'run', run: run({ id: 'a', status: 'waiting' }) });
  model.apply({ type: 'run', run: run({ id: 'b', status: 'ok' }) });
  expect(currentRun(model.state)?.id).toBe('a');
  model.apply({ type: 'run', run: run({ id: 'a', status: 'ok' }) });
  expect(currentRun(model.state)?.id).toBe('b');
});
