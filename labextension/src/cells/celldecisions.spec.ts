import { Notification } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { KernelConnection } from '../comm/connection';
import type { KernelConnections } from '../comm/connections';
import { HistoryError, type HistoryClient } from '../history/client';
import { RecordSync } from '../history/recordsync';
import { insertCells } from '../notebook/insertion';
import type { CellState, FromPage } from '../protocol/messages';
import { FROM_PAGE, run, stateMessage, TO_PAGE } from '../testing/golden';
import { META, provenance } from '../notebook/provenance';
import type { Notebook } from '../testing/notebooks';
import {
  cellsOf,
  codeCell,
  ids,
  notebookOf,
  panelOf,
  states,
  trackerOf,
  typedElsewhere
} from '../testing/notebooks';
import { CellDecisions } from './celldecisions';

let notebook: Notebook;
let panel: NotebookPanel;
let sent: FromPage[];
let stored: [string, CellState][];
let fails: Error | null;
/** What is on record as run in the kernel. */
let noted: [string, string][];
let linked: boolean;
/** The code of every run, as the history has it. */
let recorded: string;
let asked: [string, boolean][];
let added: Signal<object, KernelConnection>;
let sync: RecordSync;
let decisions: CellDecisions;
let refusal: string;

beforeEach(async () => {
  notebook = notebookOf('%%agent\none');
  panel = panelOf(notebook);
  [sent, stored, linked, fails, noted] = [[], [], true, null, []];
  added = new Signal<object, KernelConnection>({});
  asked = [];
  refusal = '';
  recorded = 'run_r()';
  const connection = {
    model: { state: { runs: [] } },
    send: (message: FromPage) => linked && sent.push(message) > 0,
    findEffects: async (...what: [string, boolean]) => {
      asked.push(what);
      return linked ? stateMessage().proposals[0].effects : null;
    }
  };
  const connections = { added, of: () => connection } as unknown as KernelConnections;
  const history = {
    get: async (id: string) => run({ id, code: recorded }),
    setState: async (runId: string, state: CellState) => {
      if (fails) {
        throw fails;
      }
      stored.push([runId, state]);
    },
    applyRefusal: async () => refusal,
    noteApplied: async (runId: string, code: string) => void noted.push([runId, code]),
    notebook: async () => ({ states: {}, known: [], missing: [] })
  } as unknown as HistoryClient;
  const trans = nullTranslator.load('x');
  sync = new RecordSync({ connections, tracker: trackerOf(panel), history, trans });
  decisions = new CellDecisions({ connections, history, sync, trans, activate: () => undefined });
  await panel.context.ready; // the notebook is looked at for the first time
});

/** As by the kernel's order. */
const insert = (runId: string): string[] => {
  const cellIds = insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf(runId) });
  sync.markReported(panel, [runId]);
  return cellIds;
};
const said = (): [string, CellState][] =>
  sent.flatMap(message =>
    message.type === 'cell_state' ? [[message.run_id, message.state] as [string, CellState]] : []
  );

it('accepting marks the cells and sends the golden message', () => {
  insert('0123456789ab');
  decisions.accept(panel, '0123456789ab');
  expect(states(notebook).slice(1)).toEqual(['accepted', 'accepted']);
  expect(sent).toEqual([FROM_PAGE.cell_state]);
});

it('accepting twice, or what is not there, says nothing', () => {
  insert('r');
  decisions.accept(panel, 'r');
  decisions.accept(panel, 'r');
  decisions.accept(panel, 'unknown');
  expect(said()).toEqual([['r', 'accepted']]);
});

it('a run with an edited cell stays edited when the rest is accepted', () => {
  insert('r');
  decisions.markEdited(panel, notebook.cells[1]);
  decisions.accept(panel, 'r');
  expect(states(notebook).slice(1)).toEqual(['edited', 'accepted']);
  expect(said()).toEqual([['r', 'edited']]);
});

it('discarding takes the pending cells out; undo brings them back as pending, and says so', () => {
  insert('r');
  decisions.discard(panel, ['r']);
  expect(ids(notebook)).toEqual(['cell-0']);
  notebook.undo();
  sync.reportChanges(panel);
  sync.reportChanges(panel);
  expect(said()).toEqual([
    ['r', 'discarded'],
    ['r', 'pending']
  ]);
});

it.each(['b-code', 'b-answer'])('discarding with %s active moves on to what stood below', active => {
  ['a', 'b'].forEach(insert);
  const cell = ids(notebook).indexOf(active);
  Object.assign(panel.content, { activeCell: { model: { id: active } }, activeCellIndex: cell });
  decisions.discard(panel, ['b']);
  expect(ids(notebook)[panel.content.activeCellIndex]).toBe('a-code');
});

it('discarding elsewhere leaves the active cell alone', () => {
  ['a', 'b'].forEach(insert);
  Object.assign(panel.content, { activeCell: { model: { id: 'cell-0' } }, activeCellIndex: 0 });
  decisions.discard(panel, ['b']);
  expect(panel.content.activeCellIndex).toBe(0);
});

it('all at once', () => {
  ['a', 'b', 'c'].forEach(insert);
  decisions.discard(panel, ['b']);
  decisions.acceptAll(panel);
  expect(new Set(states(notebook).slice(1))).toEqual(new Set(['accepted']));
  expect(said()[0]).toEqual(['b', 'discarded']);
  expect(new Map(said())).toEqual(
    new Map([
      ['b', 'discarded'],
      ['c', 'accepted'],
      ['a', 'accepted']
    ])
  );
});

it('all at once leaves what is doubtful, and says so', () => {
  const info = vi.spyOn(Notification, 'info').mockReturnValue('');
  ['a', 'b'].forEach(insert);
  for (const cell of notebook.cells.filter(one => provenance(one)?.run_id === 'b')) {
    cell.setMetadata(META, { ...provenance(cell), doubtful: true });
  }
  decisions.acceptAll(panel);
  expect(said()).toEqual([['a', 'accepted']]);
  expect(info.mock.calls[0][0]).toContain('One doubtful result is still pending');
  info.mockRestore();
});

it('without a link to the kernel the decision goes to the history itself', () => {
  linked = false;
  insert('r');
  decisions.accept(panel, 'r');
  expect([sent, stored]).toEqual([[], [['r', 'accepted']]]);
});

const connectionDouble = (): Record<'inserted' | 'unrecorded', Signal<object, unknown>> => {
  const signal = (): Signal<object, unknown> => new Signal<object, unknown>({});
  const rest = {
    ...{ cellsChanged: signal(), decided: signal() },
    kernel: { id: 'k', disposed: signal() },
    model: { state: { link: 'ready', runs: [] }, changed: signal() }
  };
  return Object.assign(rest, { inserted: signal(), unrecorded: signal() });
};

describe('a decision that the history did not take', () => {
  const shownError = (): ReturnType<typeof vi.spyOn> => vi.spyOn(Notification, 'error').mockReturnValue('');

  it('is an error that says what was not recorded, for good, when the kernel tells it', () => {
    const error = shownError();
    const connection = connectionDouble();
    added.emit(connection as unknown as KernelConnection);
    connection.unrecorded.emit(TO_PAGE.unrecorded);
    const [text, options] = error.mock.calls[0] as [string, { autoClose: boolean }];
    expect(text).toBe(
      'Not recorded in the history: “run in your kernel”, run 0123456789ab. ' +
        'The history history.sqlite was locked by another process for 5 s; try again.'
    );
    expect(options.autoClose).toBe(false);
    error.mockRestore();
  });

  it.each([
    [
      new HistoryError('Is the disk full?', 500),
      ['Not recorded in the history: “accepted”, run r. Is the disk full?']
    ],
    [new HistoryError('no such run', 404), []]
  ])(
    'is notified where the server was asked, unless the run is of another history: %s',
    async (problem, expected) => {
      const error = shownError();
      [linked, fails] = [false, problem];
      insert('r');
      decisions.accept(panel, 'r');
      await Promise.resolve();
      await Promise.resolve();
      expect(error.mock.calls.map((call: unknown[]) => call[0])).toEqual(expected);
      error.mockRestore();
    }
  );
});

it('an insertion of the kernel can be undone by its own command, once', () => {
  const connection = connectionDouble();
  added.emit(connection as unknown as KernelConnection);
  const info = vi.spyOn(Notification, 'info').mockReturnValue('');
  connection.inserted.emit({ panel, cellIds: insert('r') });
  decisions.undoInsertion(panel);
  expect(ids(notebook)).toEqual(['cell-0']);
  expect(said()).toEqual([['r', 'discarded']]);
  expect(info).not.toHaveBeenCalled();
  decisions.undoInsertion(panel);
  expect(info).toHaveBeenCalled();
});

describe('inserting an old run again', () => {
  beforeEach(() => {
    Object.assign(panel.content, { activeCell: { model: { id: 'cell-0' } } });
  });

  it('puts its cells below the active cell', async () => {
    await decisions.insertAgain(panel, cellsOf('r'), null);
    expect(ids(notebook)).toEqual(['cell-0', 'r-code', 'r-answer']);
    expect(said()).toEqual([['r', 'pending']]);
  });

  it('puts its cells below the cell that asked, if that is still there', async () => {
    notebook.insertCells(1, [codeCell('other', 'x')]);
    Object.assign(panel.content, { activeCell: { model: { id: 'other' } } });
    await decisions.insertAgain(panel, cellsOf('r'), 'cell-0');
    await decisions.insertAgain(panel, cellsOf('s'), 'gone');
    expect(ids(notebook)).toEqual(['cell-0', 'r-code', 'r-answer', 'other', 's-code', 's-answer']);
  });

  it('gives new ids where its cells are already in the notebook', async () => {
    await decisions.insertAgain(panel, cellsOf('r'), null);
    await decisions.insertAgain(panel, cellsOf('r'), null);
    expect(new Set(ids(notebook)).size).toBe(5);
  });

  it('is refused in a notebook that cannot be written', async () => {
    Object.assign(panel.content.model!, { readOnly: true });
    await expect(decisions.insertAgain(panel, cellsOf('r'), null)).rejects.toThrow('read-only');
    expect(ids(notebook)).toEqual(['cell-0']);
  });
});

describe('running a pending cell in the live kernel', () => {
  /** A cell widget with this model, enough for the question. */
  const withWidgets = (): void => {
    const widgets = notebook.cells.map(cell =>
      Object.assign(new Widget(), { model: { id: cell.id, sharedModel: cell } })
    );
    Object.assign(panel.content, { widgets });
  };
  const answer = async (button: string): Promise<void> => {
    await vi.waitFor(() => expect(document.querySelector('.jp-Dialog')).not.toBeNull());
    (document.querySelector(`.jp-Dialog button.${button}`) as HTMLElement).click();
  };
  afterEach(() => document.querySelectorAll('.jp-Dialog').forEach(node => node.remove()));

  it('asks, shows the code as text, and does nothing without a yes', async () => {
    insertCells(notebook, {
      anchor: 'cell-0',
      replace: [],
      cells: cellsOf('r', '<img src=x onerror=alert(1)>')
    });
    withWidgets();
    const applied = decisions.apply(panel, 'r-code');
    await vi.waitFor(() => expect(document.querySelector('.jp-CodeAgent-dialog pre')).not.toBeNull());
    expect(document.querySelector('.jp-CodeAgent-dialog pre')!.textContent).toBe(
      '<img src=x onerror=alert(1)>'
    );
    expect(document.querySelector('.jp-CodeAgent-dialog img')).toBeNull();
    expect(asked).toEqual([['<img src=x onerror=alert(1)>', true]]);
    const said = document.querySelector('.jp-CodeAgent-dialog [data-kind=overwrites]')!;
    expect(said.textContent).toBe('Would overwritedaily DataFrame 365x3');
    await answer('jp-mod-reject');
    await applied;
    expect(states(notebook).slice(1)).toEqual(['pending', 'pending']);
    expect(sent).toEqual([]);
  });

  it('is not asked about where the administrator allows it never, and says why', async () => {
    insert('r');
    withWidgets();
    refusal = 'Running the code of a result in your kernel is not allowed by your administrator.';
    const said = vi.spyOn(Notification, 'error');
    await decisions.apply(panel, 'r-code');
    expect(said).toHaveBeenCalledWith(refusal);
    Notification.dismiss();
    expect(document.querySelector('.jp-Dialog')).toBeNull();
    expect([states(notebook).slice(1), sent, noted]).toEqual([['pending', 'pending'], [], []]);
    said.mockRestore();
  });

  it('states where it could not be determined what the code would do', async () => {
    insert('r');
    withWidgets();
    linked = false;
    const applied = decisions.apply(panel, 'r-code');
    await vi.waitFor(() =>
      expect(document.querySelector('.jp-CodeAgent-dialog')?.textContent).toContain('could not be determined')
    );
    await answer('jp-mod-reject');
    await applied;
  });

  const shown = (): string | undefined => document.querySelector('.jp-CodeAgent-dialog')?.textContent ?? '';

  it('runs that cell and nothing else after a yes, and reports it', async () => {
    const ran = vi.spyOn(NotebookActions, 'runCells').mockResolvedValue(true);
    insert('r');
    withWidgets();
    const applied = decisions.apply(panel, 'r-code');
    await answer('jp-mod-accept');
    await applied;
    expect(ran.mock.calls.map(([, cells]) => cells)).toEqual([[panel.content.widgets[1]]]);
    expect(sent).toEqual([
      { type: 'applied', run_id: 'r', code: 'run_r()' },
      { type: 'cell_state', run_id: 'r', state: 'accepted' }
    ]);
    expect(states(notebook).slice(1)).toEqual(['accepted', 'accepted']);
    ran.mockRestore();
  });

  it('what ran is on record as the user edited it, also where no agent listens in the kernel', async () => {
    const ran = vi.spyOn(NotebookActions, 'runCells').mockResolvedValue(true);
    insert('r');
    withWidgets();
    notebook.getCell(1).setSource('edited()');
    linked = false;
    const applied = decisions.apply(panel, 'r-code');
    await answer('jp-mod-accept');
    await applied;
    expect(ran).toHaveBeenCalled();
    expect(noted).toEqual([['r', 'edited()']]);
    ran.mockRestore();
  });

  it('a confirmation is for the displayed text and the kernel of then; for another it is asked again', async () => {
    const ran = vi.spyOn(NotebookActions, 'runCells').mockResolvedValue(true);
    insert('r');
    withWidgets();
    const applied = decisions.apply(panel, 'r-code');
    await vi.waitFor(() => expect(shown()).toContain('run_r()'));
    notebook.getCell(1).setSource('evil()');
    await answer('jp-mod-accept');
    await vi.waitFor(() => expect(shown()).toContain('evil()'));
    expect(shown()).toContain('has changed since you confirmed');
    expect(ran).not.toHaveBeenCalled();
    Object.assign(panel.sessionContext, { session: { kernel: { id: 'another' } } });
    await answer('jp-mod-accept');
    await vi.waitFor(() => expect(asked).toHaveLength(3));
    await answer('jp-mod-reject');
    await applied;
    expect(ran).not.toHaveBeenCalled();
    expect(sent).toEqual([]);
    ran.mockRestore();
  });

  it.each([
    ['run_r()', 'So far it has run in the sandbox'],
    ['another()', 'There is no record that']
  ])('says that it ran in the sandbox only if its record has this very text: %s', async (code, said) => {
    recorded = code;
    insert('r');
    withWidgets();
    const applied = decisions.apply(panel, 'r-code');
    await vi.waitFor(() => expect(shown()).toContain('run_r()'));
    expect(shown()).toContain(said);
    expect(shown()!.includes('So far it has run')).toBe(code === 'run_r()');
    await answer('jp-mod-reject');
    await applied;
  });

  it('is not asked without a kernel: one would be chosen after the yes, and the cell changed meanwhile', async () => {
    insert('r');
    withWidgets();
    Object.assign(panel.sessionContext, { session: { kernel: null } });
    await expect(decisions.apply(panel, 'r-code')).rejects.toThrow('the notebook has no kernel');
    expect(document.querySelector('.jp-Dialog')).toBeNull();
    expect(sent).toEqual([]);
  });

  it('a yes to a text that somebody else changes behind the dialog is none', async () => {
    const ran = vi.spyOn(NotebookActions, 'runCells').mockResolvedValue(true);
    insert('r');
    withWidgets();
    const applied = decisions.apply(panel, 'r-code');
    await vi.waitFor(() => expect(shown()).toContain('run_r()'));
    typedElsewhere(notebook, 1, 'run_r() and evil()');
    await answer('jp-mod-accept');
    await vi.waitFor(() => expect(shown()).toContain('has changed since you confirmed'));
    await answer('jp-mod-reject');
    await applied;
    expect(ran).not.toHaveBeenCalled();
    ran.mockRestore();
  });

  it('shows what would hide in the text', async () => {
    const hidden = 'a = 1 \u2066# \u2067evil()\u2069\u2069\u0008\u{e0041}';
    insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('r', hidden) });
    withWidgets();
    const applied = decisions.apply(panel, 'r-code');
    await vi.waitFor(() =>
      expect(document.querySelector('.jp-CodeAgent-dialog pre')?.textContent).toBe(
        'a = 1 <U+2066># <U+2067>evil()<U+2069><U+2069><U+0008><U+E0041>'
      )
    );
    await answer('jp-mod-reject');
    await applied;
  });

  it('a yes runs nothing when the cell or the notebook has gone meanwhile', async () => {
    const ran = vi.spyOn(NotebookActions, 'runCells').mockResolvedValue(true);
    insert('r');
    withWidgets();
    const applied = decisions.apply(panel, 'r-code');
    await vi.waitFor(() => expect(shown()).toContain('run_r()'));
    panel.content.widgets[1].dispose();
    await answer('jp-mod-accept');
    await applied;
    expect([ran.mock.calls, sent]).toEqual([[], []]);
    ran.mockRestore();
  });

  it('a second press asks no second question, and the cell shows that the first was received', async () => {
    insert('r');
    withWidgets();
    const cell = panel.content.widgets[1];
    const both = [decisions.apply(panel, 'r-code'), decisions.apply(panel, 'r-code')];
    expect([cell.hasClass('jp-CodeAgent-applying'), cell.node.getAttribute('aria-busy')]).toEqual([
      true,
      'true'
    ]);
    await answer('jp-mod-reject');
    await Promise.all(both);
    expect(asked).toHaveLength(1);
    expect(cell.hasClass('jp-CodeAgent-applying')).toBe(false);
    const again = decisions.apply(panel, 'r-code');
    await answer('jp-mod-reject');
    await again;
    expect(asked).toHaveLength(2);
  });

  it('is not offered for a cell that is not the agent’s', async () => {
    withWidgets();
    await decisions.apply(panel, 'cell-0');
    expect(document.querySelector('.jp-Dialog')).toBeNull();
  });
});

describe('in a notebook that cannot be written', () => {
  it.each([
    ['accept', () => decisions.accept(panel, 'r')],
    ['accept of some cells', () => decisions.acceptCells(panel, ['r-code'])],
    ['accept of all', () => decisions.acceptAll(panel)],
    ['discard', () => decisions.discard(panel, ['r'])],
    ['discard of some cells', () => decisions.discardCells(panel, ['r-code'])],
    ['discard of all', () => decisions.discardAll(panel)],
    ['edit', () => decisions.edit(panel, 'r-code')],
    ['accept & run', () => decisions.apply(panel, 'r-code')]
  ])('%s changes nothing, and says why once, as other actions do', async (_, act) => {
    const error = vi.spyOn(Notification, 'error').mockReturnValue('');
    insert('r');
    insert('q');
    const widgets = notebook.cells.map(cell => ({ model: { id: cell.id, sharedModel: cell } }));
    Object.assign(panel.content, { widgets });
    Object.assign(panel.context, { contentsModel: { writable: false } });
    await act();
    expect(states(notebook).slice(1)).toEqual(['pending', 'pending', 'pending', 'pending']);
    expect([sent, stored]).toEqual([[], []]);
    expect(error.mock.calls).toEqual([['the notebook eda.ipynb is read-only']]);
    await expect(decisions.insertAgain(panel, cellsOf('r'), null)).rejects.toThrow(error.mock.calls[0][0]);
    error.mockRestore();
  });

  it('nothing is said where nothing waits', () => {
    const error = vi.spyOn(Notification, 'error').mockReturnValue('');
    Object.assign(panel.context, { contentsModel: { writable: false } });
    decisions.acceptAll(panel);
    decisions.discard(panel, ['r']);
    expect(error).not.toHaveBeenCalled();
    error.mockRestore();
  });
});
