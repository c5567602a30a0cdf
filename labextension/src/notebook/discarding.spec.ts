import type { Notebook } from '../testing/notebooks';
import { cellsOf, ids, notebookOf } from '../testing/notebooks';
import { setRunState } from './cellstates';
import { discardRuns } from './discarding';
import { insertCells } from './insertion';

const insert = (notebook: Notebook, runId: string, anchor: string | null): string[] =>
  insertCells(notebook, { anchor, replace: [], cells: cellsOf(runId) });

let notebook: Notebook;
beforeEach(() => {
  notebook = notebookOf('%%agent\none', 'x = 1', '%%agent\ntwo');
});

describe('discarding', () => {
  beforeEach(() => {
    insert(notebook, 'a', 'cell-0');
    insert(notebook, 'b', 'cell-2');
  });

  it('discards pending cells in one undo step', () => {
    expect(discardRuns(notebook, ['a', 'b'])).toEqual(['a-code', 'a-answer', 'b-code', 'b-answer']);
    expect(ids(notebook)).toEqual(['cell-0', 'cell-1', 'cell-2']);
    notebook.undo();
    expect(ids(notebook)).toHaveLength(7);
  });

  it('leaves an empty cell, trusted as every new one, where nothing else is left', () => {
    const bare = notebookOf();
    insertCells(bare, { anchor: null, replace: [], cells: cellsOf('a') });
    discardRuns(bare, ['a']);
    expect(bare.cells.map(cell => [cell.getSource(), cell.getMetadata('trusted')])).toEqual([['', true]]);
  });

  it('never discards what was accepted', () => {
    setRunState(notebook, 'a', 'accepted');
    expect(discardRuns(notebook, ['a'])).toEqual([]);
  });

  it('leaves an empty cell rather than a notebook without any', () => {
    const only = notebookOf();
    insert(only, 'a', null);
    discardRuns(only, ['a']);
    expect(only.cells.map(cell => cell.getSource())).toEqual(['']);
  });
});
