import type { Notebook } from '../testing/notebooks';
import { cellsOf, notebookOf } from '../testing/notebooks';
import { cellState, pendingRuns, setRunState } from './cellstates';
import { insertCells } from './insertion';

const insert = (notebook: Notebook, runId: string, anchor: string | null): string[] =>
  insertCells(notebook, { anchor, replace: [], cells: cellsOf(runId) });

let notebook: Notebook;
beforeEach(() => {
  notebook = notebookOf('%%agent\none', 'x = 1', '%%agent\ntwo');
});

describe('the state of a cell', () => {
  it('of a pending code cell is edited once its text is no longer what was inserted', () => {
    insert(notebook, 'r', 'cell-0');
    expect(cellState(notebook.cells[1])).toBe('pending');
    notebook.getCell(1).setSource('run_r() ');
    expect(cellState(notebook.cells[1])).toBe('edited');
    notebook.getCell(1).setSource('run_r()');
    expect(cellState(notebook.cells[1])).toBe('pending');
  });

  it('of an accepted cell stays accepted whatever its text', () => {
    insert(notebook, 'r', 'cell-0');
    setRunState(notebook, 'r', 'accepted');
    notebook.getCell(1).setSource('other');
    expect(cellState(notebook.cells[1])).toBe('accepted');
  });

  it('of a cell without or with foreign provenance is none', () => {
    notebook.getCell(1).setMetadata('codeagent', 'someone else’s');
    expect([cellState(notebook.cells[0]), cellState(notebook.cells[1])]).toEqual([null, null]);
  });
});

describe('deciding', () => {
  beforeEach(() => {
    insert(notebook, 'a', 'cell-0');
    insert(notebook, 'b', 'cell-2');
  });

  it('lists the runs that wait from top to bottom', () => {
    expect(pendingRuns(notebook).map(run => [run.runId, run.cellIds, run.source])).toEqual([
      ['a', ['a-code', 'a-answer'], 'run_a()'],
      ['b', ['b-code', 'b-answer'], 'run_b()']
    ]);
  });

  it('accepts one run only, and is not undone with the insertion', () => {
    expect(setRunState(notebook, 'a', 'accepted')).toEqual(['a-code', 'a-answer']);
    expect(pendingRuns(notebook).map(run => run.runId)).toEqual(['b']);
    expect(setRunState(notebook, 'a', 'accepted')).toEqual([]);
  });

  it('leaves an edited cell edited', () => {
    notebook.getCell(1).setSource('changed');
    expect(setRunState(notebook, 'a', 'accepted')).toEqual(['a-answer']);
  });
});
