import type { NotebookPanel } from '@jupyterlab/notebook';

import { FROM_PAGE, insertMessage, markMessage } from '../testing/golden';
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

it('tells of an insertion, for undo', () => {
  const inserted: string[][] = [];
  orders.inserted.connect((_, { cellIds }) => inserted.push(cellIds));
  orders.execute(insertMessage());
  orders.execute(insertMessage());
  expect(inserted).toHaveLength(1);
});
