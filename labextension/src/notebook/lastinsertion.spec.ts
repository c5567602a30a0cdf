import type { Notebook } from '../testing/notebooks';
import { cellsOf, codeCell, ids, notebookOf } from '../testing/notebooks';
import { insertCells } from './insertion';
import { LastInsertion } from './lastinsertion';

const insert = (notebook: Notebook, runId: string, anchor: string | null): string[] =>
  insertCells(notebook, { anchor, replace: [], cells: cellsOf(runId) });

let notebook: Notebook;
beforeEach(() => {
  notebook = notebookOf('%%agent\none', 'x = 1', '%%agent\ntwo');
});

describe('undo', () => {
  it('takes the whole insertion back, and neither what came just before nor what came just after', () => {
    notebook.insertCell(3, codeCell('before', ''));
    insert(notebook, 'r', 'cell-0');
    notebook.insertCell(6, codeCell('after', ''));
    notebook.undo();
    expect(ids(notebook)).toContain('r-code');
    expect(ids(notebook)).not.toContain('after');
    notebook.undo();
    expect(ids(notebook)).toEqual(['cell-0', 'cell-1', 'cell-2', 'before']);
  });

  it('of the last insertion is one step if nothing was changed since', () => {
    const last = new LastInsertion();
    last.remember(notebook, insert(notebook, 'r', 'cell-0'));
    expect(last.undo(notebook)).toEqual(['r']);
    expect(ids(notebook)).toEqual(['cell-0', 'cell-1', 'cell-2']);
    notebook.redo();
    expect(ids(notebook)).toContain('r-code');
  });

  it('of the last insertion takes out only that where something was changed since', () => {
    const last = new LastInsertion();
    last.remember(notebook, insert(notebook, 'r', 'cell-0'));
    notebook.insertCell(0, codeCell('mine', 'mine'));
    expect(last.undo(notebook)).toEqual(['r']);
    expect(ids(notebook)).toEqual(['mine', 'cell-0', 'cell-1', 'cell-2']);
  });

  it('of the last insertion happens once, and not in another notebook', () => {
    const last = new LastInsertion();
    last.remember(notebook, insert(notebook, 'r', 'cell-0'));
    expect(last.undo(notebookOf('x'))).toEqual([]);
    last.undo(notebook);
    expect(last.undo(notebook)).toEqual([]);
  });
});
