import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import type { KernelConnections } from '../comm/connections';
import { insertCells } from '../notebook/insertion';
import type { Notebook } from '../testing/notebooks';
import { cellsOf, ids, notebookOf, panelOf } from '../testing/notebooks';
import { run } from '../testing/golden';
import { CellActions } from './cellactions';
import type { CellDecisions } from './celldecisions';

const QUESTION = 'How does a differ by b in t?';

/** The actions of a notebook whose kernel knows one run with a next question. */
function actionsOf(
  notebook: Notebook,
  ran: string[],
  forgotten?: string[]
): { actions: CellActions; panel: never } {
  const runs = [run({ id: 'r', next_questions: [QUESTION] })];
  const state = { link: 'ready', runs, context: { forgotten } };
  const connections = {
    changed: new Signal({}),
    added: new Signal({}),
    of: () => ({ model: { state } })
  } as unknown as KernelConnections;
  const decisions = {
    reveal: async (_: unknown, id: string) => {
      ran.push(notebook.cells.find(cell => cell.id === id)!.getSource());
      return null;
    }
  } as unknown as CellDecisions;
  const trans = nullTranslator.load('x');
  return { actions: new CellActions({ connections, decisions, trans }), panel: panelOf(notebook) as never };
}

describe('a next question', () => {
  const fresh = (): Notebook => {
    const notebook = notebookOf('%%agent\none', 'last');
    insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('r') });
    return notebook;
  };

  it('is a question of the user’s below the cells of the result', async () => {
    const ran: string[] = [];
    const notebook = fresh();
    const { actions, panel } = actionsOf(notebook, ran);
    expect(actions.nextQuestions(panel, 'r')).toEqual([QUESTION]);
    expect(actions.nextQuestions(panel, 'other')).toEqual([]);
    await actions.askNext(panel, 'r', QUESTION);
    expect(ran).toEqual([`%%agent\n${QUESTION}`]);
    expect(ids(notebook).slice(0, 3)).toEqual(['cell-0', 'r-code', 'r-answer']);
    expect(notebook.cells[3].getSource()).toBe(`%%agent\n${QUESTION}`);
    expect(notebook.cells[4].id).toBe('cell-1');
  });

  it('runs the same cell when it is pressed twice', async () => {
    const ran: string[] = [];
    const notebook = fresh();
    const { actions, panel } = actionsOf(notebook, ran);
    await actions.askNext(panel, 'r', QUESTION);
    await actions.askNext(panel, 'r', QUESTION);
    expect(ran).toHaveLength(2);
    expect(notebook.cells).toHaveLength(5);
  });

  it('is text: no expression of it is evaluated', async () => {
    const ran: string[] = [];
    const { actions, panel } = actionsOf(fresh(), ran);
    await actions.askNext(panel, 'r', 'How does {{1/0}} go?');
    expect(ran).toEqual(['%%agent\nHow does \\{{1/0}} go?']);
  });
});

it('no question goes on from a run that left the conversation, as when its data was hidden, nor from an unknown one', () => {
  const canGoOn = (runId: string, forgotten?: string[]): boolean => {
    const { actions, panel } = actionsOf(notebookOf('x'), [], forgotten);
    return actions.canGoOn(panel, runId);
  };
  expect([canGoOn('r'), canGoOn('r', ['other']), canGoOn('r', ['r']), canGoOn('other')]).toEqual([
    true,
    true,
    false,
    false
  ]);
});
