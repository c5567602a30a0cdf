import type { NotebookPanel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import type { Map as YMap } from 'yjs';

import type { KernelConnection } from '../comm/connection';
import type { KernelConnections } from '../comm/connections';
import { setRunState } from '../notebook/cellstates';
import { insertCells } from '../notebook/insertion';
import { META, provenance } from '../notebook/provenance';
import type { CellState, FromPage, IDecidedMessage } from '../protocol/messages';
import type { IRun } from '../protocol/run';
import { run } from '../testing/golden';
import type { Notebook } from '../testing/notebooks';
import {
  cellsOf,
  changedElsewhere,
  ids,
  notebookOf,
  panelOf,
  states,
  trackerOf,
  typedElsewhere
} from '../testing/notebooks';
import type { HistoryClient, INotebookCells, IRecordedCells } from './client';
import { HistoryError } from './client';
import { RecordSync } from './recordsync';

let notebook: Notebook;
let panel: NotebookPanel;
let sent: [string, CellState][];
/** What the kernel knows of its runs. */
let runs: IRun[];
/** What the server answers about a notebook. */
let recorded: IRecordedCells | HistoryError;
let looked: INotebookCells[];
let sync: RecordSync;
let connection: ReturnType<typeof connectionDouble>;

function connectionDouble() {
  const model = { state: { link: 'absent', runs: [] as IRun[] }, changed: new Signal<object, object>({}) };
  return {
    kernel: { id: 'k', clientId: 'this page', disposed: new Signal<object, void>({}) },
    model,
    unrecorded: new Signal<object, unknown>({}),
    cellsChanged: new Signal<object, { panel: NotebookPanel; runIds: string[] }>({}),
    decided: new Signal<object, IDecidedMessage>({}),
    send: (message: FromPage) =>
      message.type === 'cell_state' && sent.push([message.run_id, message.state]) > 0
  };
}

const insert = (runId: string, state: CellState = 'pending'): void =>
  void insertCells(notebook, {
    anchor: 'cell-0',
    replace: [],
    cells: cellsOf(runId, `run_${runId}()`, state)
  });
const decide = (runId: string, state: CellState, session = 'another page'): void =>
  connection.decided.emit({ type: 'decided', run_id: runId, state, session });
const link = (state: 'ready' | 'absent'): void => {
  connection.model.state = { link: state, runs };
  connection.model.changed.emit(connection.model.state);
};
const read = async (): Promise<void> => {
  sync.reportChanges(panel);
  await vi.waitFor(() => expect(looked).not.toEqual([]));
  await Promise.resolve();
};

beforeEach(() => {
  notebook = notebookOf('%%agent\none');
  panel = panelOf(notebook);
  Object.assign(panel.context, { ready: new Promise(() => undefined) }); // each test looks when it wants to
  Object.assign(panel.context.contentsModel!, { last_modified: '1970-01-01T00:01:40Z' });
  [sent, runs, looked] = [[], [], []];
  recorded = { states: {}, known: [], missing: [] };
  connection = connectionDouble();
  const added = new Signal<object, KernelConnection>({});
  sync = new RecordSync({
    connections: { added, of: () => connection } as unknown as KernelConnections,
    tracker: trackerOf(panel),
    history: {
      notebook: async (cells: INotebookCells) => {
        looked.push(cells);
        if (recorded instanceof HistoryError) {
          throw recorded;
        }
        return recorded;
      }
    } as unknown as HistoryClient,
    trans: nullTranslator.load('x')
  });
  added.emit(connection as unknown as KernelConnection);
});

describe('what changes in the notebook', () => {
  it('is reported, also where no button was pressed', async () => {
    insert('a');
    await read();
    notebook.deleteCell(2);
    notebook.deleteCell(1);
    sync.reportChanges(panel);
    notebook.undo();
    sync.reportChanges(panel);
    expect(sent).toEqual([
      ['a', 'discarded'],
      ['a', 'pending']
    ]);
  });

  it('is not reported where the record has it already, or the kernel has ordered it', async () => {
    await read();
    runs = [run({ id: 'a', cell_state: 'pending' })];
    link('ready');
    insert('a');
    sync.reportChanges(panel);
    insert('b');
    connection.cellsChanged.emit({ panel, runIds: ['b'] });
    sync.reportChanges(panel);
    expect(sent).toEqual([]);
  });

  it('is nothing while the notebook is loading or when it was read again, which has lost what was pending', async () => {
    insert('a');
    await read();
    looked = [];
    Object.assign(panel.context, { isReady: false });
    notebook.deleteCell(1);
    sync.reportChanges(panel);
    Object.assign(panel.context, { isReady: true });
    notebook.fromJSON(notebookOf('%%agent\none').toJSON());
    await read();
    expect(sent).toEqual([]);
    expect(looked).toHaveLength(1);
  });

  it('is not reported of cells from another notebook that are pending as they were there', async () => {
    await read();
    insert('of somebody else');
    sync.reportChanges(panel);
    expect(sent).toEqual([]);
  });

  it('is reported of cells that were taken from the history again, where they wait', async () => {
    await read();
    insert('a');
    insert('b', 'accepted');
    sync.reportReinserted(panel, ids(notebook));
    sync.reportChanges(panel);
    expect(sent).toEqual([['a', 'pending']]);
  });

  it('is another version of a result that is displayed, by a click or by undo: one waits, the other does not', async () => {
    insert('a');
    await read();
    const order = { anchor: 'cell-0', replace: ['a'], cells: cellsOf('b') };
    insertCells(notebook, order);
    sync.markReported(panel, ['a', 'b']); // the kernel's order
    decide('a', 'discarded', 'this page');
    notebook.undo();
    sync.reportChanges(panel);
    expect(sent).toEqual([
      ['a', 'pending'],
      ['b', 'discarded']
    ]);
  });

  it('is a discard only where no other notebook of the page has the cells', async () => {
    insert('a');
    await read();
    const other = notebookOf('x');
    insertCells(other, { anchor: null, replace: [], cells: cellsOf('a') });
    const tracker = trackerOf(panel, panelOf(other));
    Object.assign(sync, { _options: { ...(sync as never as { _options: object })._options, tracker } });
    notebook.deleteCell(2);
    notebook.deleteCell(1);
    sync.reportChanges(panel);
    expect(sent).toEqual([]);
  });
});

describe('what others do in a shared notebook', () => {
  const metadata = (cell: YMap<unknown>): YMap<unknown> => cell.get('metadata') as YMap<unknown>;

  beforeEach(async () => {
    Object.assign(panel.content.model!, { collaborative: true });
    insert('a');
    insert('b');
    await read();
  });

  it.each<[string, () => void]>([
    ['text', () => typedElsewhere(notebook, 1, 'evil()')],
    ['cells that go', () => changedElsewhere(notebook, cells => cells.delete(1, 2))],
    [
      'marks',
      () =>
        changedElsewhere(notebook, cells =>
          metadata(cells.get(1)).set(META, { ...provenance(notebook.cells[1])!, state: 'accepted' })
        )
    ]
  ])('is for them to report: %s', (_, change) => {
    change();
    sync.reportChanges(panel);
    expect(sent).toEqual([]);
  });

  it('does not take with it what was done here just before', () => {
    setRunState(notebook, 'a', 'accepted');
    changedElsewhere(notebook, cells => cells.delete(1, 2));
    sync.reportChanges(panel);
    expect(sent).toEqual([['a', 'accepted']]);
  });

  it('is not believed either when it was there before this page', async () => {
    setRunState(notebook, 'a', 'accepted');
    sync.markReported(panel, ['a']);
    runs = [run({ id: 'a', cell_state: 'pending' }), run({ id: 'b', cell_state: 'discarded' })];
    link('ready');
    expect(sent).toEqual([]);
  });
});

describe('a notebook that has just been read', () => {
  it('is compared with the record, by its path, its file’s time, its cells and its runs', async () => {
    insert('a');
    await read();
    expect(looked).toEqual([
      { notebook: 'eda.ipynb', saved_at: 100, cell_ids: ids(notebook), run_ids: ['a'] }
    ]);
  });

  it('takes over what was accepted before it was saved, and does not want to be saved for it', async () => {
    insert('a');
    insert('b');
    notebook.dirty = false;
    recorded = { states: { a: 'accepted', b: 'edited' }, known: ['a', 'b'], missing: [] };
    await read();
    await vi.waitFor(() => expect(states(notebook).slice(1, 3)).toEqual(['edited', 'edited']));
    expect(states(notebook).slice(3)).toEqual(['accepted', 'accepted']);
    expect(notebook.dirty).toBe(false);
    expect(sent).toEqual([]);
  });

  it('tells the record what it has accepted and the record has not, and what has come back with the file', async () => {
    insert('a', 'accepted');
    insert('b');
    recorded = { states: { a: 'pending', b: 'discarded' }, known: ['a', 'b'], missing: [] };
    await read();
    await vi.waitFor(() => expect(sent).toHaveLength(2));
    expect(new Map(sent)).toEqual(
      new Map([
        ['a', 'accepted'],
        ['b', 'pending']
      ])
    );
    expect(states(notebook).slice(1)).toEqual(['pending', 'pending', 'accepted', 'accepted']);
  });

  it('that cannot be written stays as it is', async () => {
    insert('a');
    Object.assign(panel.content.model!, { readOnly: true });
    recorded = { states: { a: 'accepted' }, known: ['a'], missing: [] };
    await read();
    expect(states(notebook).slice(1)).toEqual(['pending', 'pending']);
  });

  it('is left alone where the server has no history', async () => {
    insert('a');
    recorded = new HistoryError('not enabled', 404);
    await read();
    expect(states(notebook).slice(1)).toEqual(['pending', 'pending']);
    expect(sync.earlierPending(panel)).toEqual([]);
  });

  it('has lost what the record has more of, until it is decided here or in another page', async () => {
    const line = { id: 'lost', prompt: 'p', cell_id: 'cell-0' } as never;
    recorded = { states: {}, known: [], missing: [line] };
    await read();
    await vi.waitFor(() => expect(sync.earlierPending(panel)).toEqual([line]));
    expect(sync.isRecorded('lost')).toBe(true);
    decide('lost', 'discarded');
    expect(sync.earlierPending(panel)).toEqual([]);
    decide('lost', 'pending');
    expect(sync.earlierPending(panel)).toEqual([line]);
  });

  it('is compared again when its kernel goes, which knew of its own runs', async () => {
    await read();
    link('ready');
    looked = [];
    link('absent');
    await vi.waitFor(() => expect(looked).toHaveLength(1));
    connection.kernel.disposed.emit();
    await vi.waitFor(() => expect(looked).toHaveLength(2));
  });
});

describe('a decision that was made in another page', () => {
  beforeEach(async () => {
    insert('a');
    await read();
    notebook.dirty = false;
  });

  it.each([
    ['accepted', ['accepted', 'accepted']],
    ['edited', ['edited', 'edited']],
    ['discarded', []],
    ['pending', ['pending', 'pending']]
  ] as [CellState, CellState[]][])('is written into the notebook: %s', (state, cells) => {
    decide('a', state);
    sync.reportChanges(panel);
    expect(states(notebook).slice(1)).toEqual(cells);
    expect(notebook.dirty).toBe(false);
    expect(sent).toEqual([]);
  });

  it('changes nothing where it was made in this page: its user may have undone it by now', () => {
    decide('a', 'discarded', 'this page');
    expect(states(notebook).slice(1)).toEqual(['pending', 'pending']);
  });

  it('changes nothing that was decided here', () => {
    setRunState(notebook, 'a', 'accepted');
    decide('a', 'discarded');
    decide('a', 'edited');
    expect(states(notebook).slice(1)).toEqual(['accepted', 'accepted']);
  });

  it('takes no cells out of a shared document, which brings that by itself', () => {
    Object.assign(panel.content.model!, { collaborative: true });
    decide('a', 'discarded');
    expect(states(notebook).slice(1)).toEqual(['pending', 'pending']);
    decide('a', 'accepted');
    expect(states(notebook).slice(1)).toEqual(['accepted', 'accepted']);
  });

  it('is known from the state of a new link as well, and so is what the kernel missed', () => {
    insert('b', 'accepted');
    sync.markReported(panel, ['b']);
    runs = [run({ id: 'a', cell_state: 'accepted' }), run({ id: 'b', cell_state: 'pending' })];
    link('ready');
    expect(states(notebook).slice(1)).toEqual(['accepted', 'accepted', 'accepted', 'accepted']);
    expect(sent).toEqual([['b', 'accepted']]);
  });

  it('is news for the history', () => {
    const before = sync.version;
    decide('a', 'accepted', 'this page');
    expect(sync.version).toBe(before + 1);
  });
});
