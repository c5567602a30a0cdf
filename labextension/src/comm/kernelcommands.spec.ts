import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { MockInstance } from 'vitest';

import type { IAskMessage } from '../protocol/messages';
import { askMessage, FROM_PAGE, insertMessage, markMessage } from '../testing/golden';
import type { Notebook } from '../testing/notebooks';
import { cellsOf, ids, notebookOf, panelOf, states, trackerOf } from '../testing/notebooks';
import { KernelCommands } from './kernelcommands';

let notebook: Notebook;
let panel: NotebookPanel;
let orders: KernelCommands;

beforeEach(() => {
  notebook = notebookOf('%%agent\none', 'x');
  panel = panelOf(notebook);
  orders = new KernelCommands(trackerOf(panel), 'k');
});

it('answers the golden insertion with the golden acknowledgement', () => {
  expect(orders.execute({ ...insertMessage(), anchor: 'cell-0' })).toEqual(FROM_PAGE.inserted);
  expect(ids(notebook).slice(1, 3)).toEqual(insertMessage().cells.map(cell => cell.id));
});

it('answers the golden mark with the golden acknowledgement', () => {
  orders.execute(insertMessage());
  expect(orders.execute(markMessage())).toEqual(FROM_PAGE.marked);
  expect(states(notebook)).toEqual([undefined, undefined, 'accepted', 'accepted']);
});

it('marks only when the notebook has loaded and can be written: until then it is sent again', () => {
  orders.execute(insertMessage());
  const loading = { ...panel.context, isReady: false };
  const { context, content } = panel;
  Object.assign(panel, { context: loading });
  expect(orders.execute(markMessage())).toMatchObject({
    type: 'marked',
    ok: false,
    problem: /still loading/
  });
  Object.assign(panel, {
    context,
    content: { ...content, model: { sharedModel: notebook, readOnly: true } }
  });
  expect(orders.execute(markMessage())).toMatchObject({ type: 'marked', ok: false, problem: /read-only/ });
  expect(states(notebook).slice(2)).toEqual(['pending', 'pending']);
  Object.assign(panel, { content });
  expect(orders.execute(markMessage())).toEqual(FROM_PAGE.marked);
});

it('marks as discarded by taking out what is pending', () => {
  orders.execute(insertMessage());
  expect(orders.execute({ ...markMessage(), state: 'discarded' })).toEqual(FROM_PAGE.marked);
  expect(ids(notebook)).toEqual(['cell-0', 'cell-1']);
});

it('answers a repeated insertion without doing it again, also when the user has discarded it meanwhile', () => {
  orders.execute(insertMessage());
  orders.execute({ ...markMessage(), state: 'discarded' });
  expect(orders.execute(insertMessage())).toEqual(FROM_PAGE.inserted);
  expect(ids(notebook)).toEqual(['cell-0', 'cell-1']);
});

it('answers an insertion that is not possible with the reason, and does it when it has become possible', () => {
  const { content } = panel;
  Object.assign(panel, { content: { ...content, model: null } });
  expect(orders.execute(insertMessage())).toEqual({
    ...FROM_PAGE.inserted,
    ok: false,
    cell_ids: [],
    problem: 'no notebook of this kernel is open in this page'
  });
  Object.assign(panel, { content });
  expect(orders.execute(insertMessage())).toEqual(FROM_PAGE.inserted);
});

it('takes out what is pending of the run that an insertion replaces', () => {
  orders.execute({ ...insertMessage(), cells: cellsOf('old'), id: '1' });
  orders.execute({ ...insertMessage(), replace: ['old'], id: '2' });
  expect(ids(notebook)).not.toContain('old-code');
});

describe('a question from a chat', () => {
  const order = (changes: Partial<IAskMessage> = {}): IAskMessage => ({
    ...askMessage(),
    notebook: 'eda.ipynb',
    ...changes
  });
  const answered = { ...FROM_PAGE.asked, cell_ids: [askMessage().cell_id] };
  let ran: MockInstance<typeof NotebookActions.runCells>;

  beforeEach(() => {
    ran = vi.spyOn(NotebookActions, 'runCells').mockReset().mockResolvedValue(true);
    Object.assign(panel.content, { activeCellIndex: 0, deselectAll: () => undefined });
  });

  it('is a trusted cell below the active one, which runs once, and of whose end is told', async () => {
    const ended: string[] = [];
    orders.askEnded.connect((_, id) => ended.push(id));
    expect(orders.execute(order())).toEqual(answered);
    expect(orders.execute(order())).toEqual(answered);
    const [, cell] = notebook.cells;
    expect([cell.id, cell.getSource(), cell.getMetadata('trusted')]).toEqual([
      order().cell_id,
      order().source,
      true
    ]);
    expect(notebook.cells).toHaveLength(3);
    await vi.waitFor(() => expect(ended).toEqual([order().id]));
    expect(ran).toHaveBeenCalledOnce();
  });

  it('waits in the notebook where others have asked it', () => {
    expect(orders.execute(order({ runs: false }))).toEqual(answered);
    expect(notebook.cells[1].getSource()).toBe(order().source);
    expect(ran).not.toHaveBeenCalled();
  });

  it('goes into the notebook that is meant, of those that share the kernel', () => {
    const other = notebookOf('x');
    const otherPanel = panelOf(other);
    Object.assign(otherPanel.context, { path: 'RTC:other.ipynb', localPath: 'other.ipynb' });
    Object.assign(otherPanel.content, { activeCellIndex: 0 });
    orders = new KernelCommands(trackerOf(panel, otherPanel), 'k');
    expect(orders.execute(order({ runs: false, notebook: 'other.ipynb' }))).toEqual(answered);
    expect([notebook.cells.length, other.cells.length]).toEqual([2, 2]);
    expect(orders.execute(order({ id: '2', cell_id: 'c', notebook: 'third.ipynb' }))).toMatchObject({
      ok: false,
      problem: '2 notebooks share this kernel and none of them has the %%agent cell'
    });
  });
});

it('tells of an insertion, for undo', () => {
  const inserted: string[][] = [];
  orders.inserted.connect((_, { cellIds }) => inserted.push(cellIds));
  orders.execute(insertMessage());
  orders.execute(insertMessage());
  expect(inserted).toHaveLength(1);
});
