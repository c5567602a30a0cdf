import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';

import { notebookOf, panelOf } from '../testing/notebooks';
import { reportRequest, saveAndReport } from './reportcell';

it('a report is made of the saved notebook, in the cell that made one before', async () => {
  const run = vi.spyOn(NotebookActions, 'runCells').mockResolvedValue(true);
  const notebook = notebookOf('x');
  const panel = panelOf(notebook);
  const done: string[] = [];
  Object.assign(panel.content, { activeCellIndex: 0, deselectAll: () => undefined });
  Object.assign(panel.context, { save: () => Promise.resolve(done.push('saved')) });
  run.mockImplementation(() => Promise.resolve(done.push('run') > 0));
  await saveAndReport(panel);
  await saveAndReport(panel);
  expect(notebook.cells.map(cell => cell.getSource())).toEqual(['x', '%agent report']);
  expect(done).toEqual(['saved', 'run', 'saved', 'run']);
});

describe('a report that is made', () => {
  /** A panel whose only cell is in this state. */
  const panelIn = (source: string, executionState: string, future: unknown): NotebookPanel => {
    const notebook = notebookOf(source);
    const panel = panelOf(notebook);
    const model = { type: 'code', sharedModel: notebook.cells[0], executionState };
    Object.assign(panel.content, { widgets: [{ model, outputArea: { future } }] });
    return panel;
  };
  const future = { msg: { header: { msg_id: 'request' } } };

  it.each([
    ['%agent report -o x.html', 'running', future, 'request'],
    ['%agent report', 'running', undefined, ''],
    ['%agent report', 'idle', future, null],
    ['%agent explore df', 'running', future, null],
    ['%agent reports', 'running', future, null]
  ])('is known by its request: %j, %s', (source, state, sent, id) => {
    expect(reportRequest(panelIn(source, state, sent))).toBe(id);
  });
});
