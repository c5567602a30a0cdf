import { Signal } from '@lumino/signaling';

import type { KernelConnections } from '../comm/connections';
import type { CellState } from '../protocol/messages';
import type { IRun } from '../protocol/run';
import { run } from '../testing/golden';
import { notebookOf, panelOf, trackerOf } from '../testing/notebooks';
import type { IRunLine } from './client';
import type { RecordSync } from './recordsync';
import { RunCellStates } from './runcells';

const panel = panelOf(notebookOf('%%agent\none'));
const model = {
  state: { runs: [] as IRun[] },
  runStarted: new Signal<object, IRun>({}),
  runEnded: new Signal<object, IRun>({})
};
/** What the notebook has; null while it is loading. */
let here: Map<string, CellState> | null;
let before: IRunLine[];
let held: Set<string>;
let cells: RunCellStates;

beforeEach(() => {
  [here, before, held] = [new Map(), [], new Set()];
  model.state = { runs: [] };
  const added = new Signal<object, object>({});
  cells = new RunCellStates({
    connections: { added, of: () => ({ model }) } as unknown as KernelConnections,
    tracker: trackerOf(panel),
    sync: {
      changed: new Signal({}),
      version: 0,
      statesOf: () => here,
      hasContained: (id: string) => held.has(id),
      earlierPending: () => before
    } as unknown as RecordSync
  });
  added.emit({ model });
});

function known(changes: Partial<IRun> = {}): IRun {
  const made = run({ id: 'a', status: 'ok', cell_state: 'pending', placed: 'cells', ...changes });
  model.state = { runs: [...model.state.runs, made] };
  return made;
}

const lineOf = (changes: Partial<IRunLine>): IRunLine => ({
  ...{ id: 'old', prompt: 'p', notebook: 'eda.ipynb', cell_id: 'cell-0', model: 'm', status: 'ok' },
  ...{ started_at: 1, ended_at: 2, steps: 1, prompt_tokens: 1, completion_tokens: 1 },
  ...{ cell_state: 'pending', error: '' },
  ...changes
});

describe('the displayed state of a run', () => {
  it.each(['pending', 'accepted', 'edited'] as CellState[])('is what the notebook has: %s', state => {
    here!.set('a', state);
    expect(cells.stateOf(known({ cell_state: 'discarded' }))).toBe(state);
  });

  it('is that its cells are missing, where nobody has decided and they are not there', () => {
    expect(cells.stateOf(known())).toBe('missing');
  });

  it('is what was decided, where they are not there any more', () => {
    expect(cells.stateOf(known({ cell_state: 'accepted' }))).toBe('accepted');
    expect(cells.stateOf(known({ cell_state: 'discarded' }))).toBe('discarded');
  });

  it.each(['inserting', 'output', 'nowhere'] as const)('is nothing where there are no cells: %s', placed => {
    expect(cells.stateOf(known({ placed }))).toBeNull();
  });

  it('is nothing for a run that gave no result', () => {
    expect(cells.stateOf(known({ status: 'failed' }))).toBeNull();
  });

  it('is that of the run whose cells were kept, where its code was only run again', () => {
    here!.set('first', 'edited');
    expect(cells.stateOf(known({ placed: 'kept', replayed_from: 'first' }))).toBe('edited');
    expect(cells.stateOf(known({ id: 'b', placed: 'cells', replayed_from: 'first' }))).toBe('missing');
  });

  it('is what the record says of a notebook that is not open here or still loading', () => {
    expect(cells.stateOf(lineOf({ notebook: 'other.ipynb' }))).toBe('pending');
    expect(cells.stateOf(lineOf({}))).toBe('missing');
    here = null;
    expect(cells.stateOf(lineOf({}))).toBe('pending');
  });
});

describe('results that are missing', () => {
  const missing = (): string[] => cells.missing(panel).map(one => one.id);

  it('are those of this kernel and of earlier ones, the oldest first', () => {
    before = [lineOf({ id: 'newer' }), lineOf({ id: 'older' })];
    known();
    expect(missing()).toEqual(['older', 'newer', 'a']);
  });

  it('are none that the notebook has, that somebody has decided over, or that were never put there', () => {
    before = [lineOf({ id: 'there' })];
    here!.set('there', 'pending');
    here!.set('kept', 'accepted');
    known({ id: 'accepted', cell_state: 'accepted' });
    known({ id: 'discarded', cell_state: 'discarded' });
    known({ id: 'kept' });
    known({ id: 'json', placed: 'nowhere' });
    known({ id: 'older version', placed: undefined });
    expect(missing()).toEqual([]);
  });

  it('are those that no page has inserted, too', () => {
    known({ placed: 'undelivered' });
    expect(missing()).toEqual(['a']);
  });

  it('are not what came into another page while this one looked on; what this one had, it has lost', () => {
    model.runStarted.emit(known());
    expect(missing()).toEqual([]);
    held.add('a');
    expect(missing()).toEqual(['a']);
  });

  it('of an earlier kernel are what this kernel says of them, if it knows them', () => {
    before = [lineOf({ id: 'a' })];
    known({ cell_state: 'discarded' });
    expect(missing()).toEqual([]);
  });

  it('are not known while the notebook is loading', () => {
    known();
    here = null;
    expect(missing()).toEqual([]);
  });
});

it('cells are gone that were put into a notebook of this page, whatever was decided over them', () => {
  expect(cells.canReinsert(known({ cell_state: 'accepted' }))).toBe(true);
  expect(cells.canReinsert(known({ id: 'b', cell_state: 'discarded' }))).toBe(true);
  expect(cells.canReinsert(known({ id: 'c', placed: 'nowhere' }))).toBe(false);
  expect(cells.canReinsert(known({ id: 'd', status: 'failed' }))).toBe(false);
  here!.set('a', 'accepted');
  expect(cells.canReinsert(model.state.runs[0])).toBe(false);
});
