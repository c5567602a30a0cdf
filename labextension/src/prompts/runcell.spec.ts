import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';

import { notebookOf, panelOf, typedElsewhere, type Notebook } from '../testing/notebooks';
import { runIfUnchanged } from './runcell';

const trans = nullTranslator.load('x');
let notebook: Notebook;
let panel: NotebookPanel;
let cell: Cell;
const ran = vi.spyOn(NotebookActions, 'runCells');

beforeEach(() => {
  notebook = notebookOf('%agent fix');
  panel = panelOf(notebook);
  cell = { model: { sharedModel: notebook.getCell(0) } } as unknown as Cell;
  ran.mockReset().mockResolvedValue(true);
});

it('a cell is run as it was made', async () => {
  await runIfUnchanged(panel, cell, '%agent fix', trans);
  expect(ran).toHaveBeenCalledTimes(1);
});

it('a cell that somebody else has changed before it could be run is not run', async () => {
  typedElsewhere(notebook, 0, 'evil()');
  await expect(runIfUnchanged(panel, cell, '%agent fix', trans)).rejects.toThrow('was changed before');
  expect(ran).not.toHaveBeenCalled();
});

it('without a kernel nothing is run: JupyterLab would have one chosen first', async () => {
  await expect(runIfUnchanged(panelOf(notebook, null), cell, '%agent fix', trans)).rejects.toThrow(
    'no kernel'
  );
  expect(ran).not.toHaveBeenCalled();
});

it('what is sent to the kernel is what was looked at: nothing is waited for in between', () => {
  void runIfUnchanged(panel, cell, '%agent fix', trans);
  expect(ran).toHaveBeenCalledTimes(1); // within the same turn
});
