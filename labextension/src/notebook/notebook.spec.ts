import type { NotebookPanel } from '@jupyterlab/notebook';

import { insertMessage } from '../testing/golden';
import type { Notebook } from '../testing/notebooks';
import { cellsOf, codeCell, ids, notebookOf, panelOf, states, trackerOf } from '../testing/notebooks';
import {
  cellState,
  discardRuns,
  findNotebook,
  insertCells,
  isPending,
  LastInsertion,
  setRunState,
  panelsOfKernel,
  pendingRuns,
  requireWritable
} from './notebook';

const insert = (notebook: Notebook, runId: string, anchor: string | null, replace: string[] = []): string[] =>
  insertCells(notebook, { anchor, replace, cells: cellsOf(runId) });

let notebook: Notebook;
beforeEach(() => {
  notebook = notebookOf('%%agent\none', 'x = 1', '%%agent\ntwo');
});

describe('inserting', () => {
  it('puts code and answer directly below the anchor', () => {
    expect(insert(notebook, 'r', 'cell-0')).toEqual(['r-code', 'r-answer']);
    expect(ids(notebook)).toEqual(['cell-0', 'r-code', 'r-answer', 'cell-1', 'cell-2']);
  });

  it('inserts the golden message of the kernel as it is', () => {
    const message = insertMessage();
    insertCells(notebook, { ...message, anchor: 'cell-1' });
    const [code, answer] = notebook.cells.slice(2, 4) as unknown as { toJSON(): object }[];
    expect(code.toJSON()).toEqual(message.cells[0]);
    expect(answer.toJSON()).toEqual(message.cells[1]);
    expect(isPending(notebook.cells[2], message.run_id)).toBe(true);
  });

  it('marks trusted what the message says, and nothing else', () => {
    const [code, answer] = cellsOf('r');
    insertCells(notebook, {
      anchor: 'cell-0',
      replace: [],
      cells: [{ ...code, metadata: { ...code.metadata, trusted: true } }, answer, codeCell('plain', '1')]
    });
    expect(notebook.cells.map(cell => cell.getMetadata('trusted'))).toEqual([
      undefined,
      true,
      ...[undefined, undefined, undefined, undefined]
    ]);
  });

  it('goes to the end when the anchor is gone, and when there is none', () => {
    insert(notebook, 'r', 'deleted');
    insert(notebook, 's', null);
    expect(ids(notebook).slice(3)).toEqual(['r-code', 'r-answer', 's-code', 's-answer']);
  });

  it('follows an anchor that was moved', () => {
    notebook.moveCell(0, 2);
    insert(notebook, 'r', 'cell-0');
    expect(ids(notebook)).toEqual(['cell-1', 'cell-2', 'cell-0', 'r-code', 'r-answer']);
  });

  it('the same message twice inserts once and is answered alike', () => {
    const first = insert(notebook, 'r', 'cell-0');
    expect(insert(notebook, 'r', 'cell-0')).toEqual(first);
    expect(ids(notebook)).toHaveLength(5);
  });

  it('a repeated message leaves accepted cells accepted', () => {
    insert(notebook, 'r', 'cell-0');
    setRunState(notebook, 'r', 'accepted');
    insert(notebook, 'r', 'cell-0');
    expect(states(notebook).slice(1, 3)).toEqual(['accepted', 'accepted']);
  });

  it('only what is missing is inserted, below what is there', () => {
    const [code, answer] = cellsOf('r');
    insertCells(notebook, { anchor: 'cell-2', replace: [], cells: [code] });
    notebook.moveCell(3, 0);
    insertCells(notebook, { anchor: 'cell-2', replace: [], cells: [code, answer] });
    expect(ids(notebook).slice(0, 2)).toEqual(['r-code', 'r-answer']);
  });

  it('two pages with one shared notebook insert once', () => {
    const otherPage = panelOf(notebook);
    insert(notebook, 'r', 'cell-0');
    const there = findNotebook(trackerOf(otherPage), 'k', ['r-code', 'r-answer', 'cell-0']);
    insertCells(there.content.model!.sharedModel as unknown as Notebook, {
      anchor: 'cell-0',
      replace: [],
      cells: cellsOf('r')
    });
    expect(ids(notebook)).toHaveLength(5);
  });
});

describe('running the same cell again', () => {
  beforeEach(() => {
    insert(notebook, 'old', 'cell-0');
  });

  it('replaces what is still pending', () => {
    insert(notebook, 'new', 'cell-0', ['old']);
    expect(ids(notebook)).toEqual(['cell-0', 'new-code', 'new-answer', 'cell-1', 'cell-2']);
  });

  it('keeps accepted cells', () => {
    setRunState(notebook, 'old', 'accepted');
    insert(notebook, 'new', 'cell-0', ['old']);
    expect(ids(notebook).slice(0, 5)).toEqual(['cell-0', 'new-code', 'new-answer', 'old-code', 'old-answer']);
  });

  it('keeps a cell whose text was changed, also before anyone marked it edited', () => {
    notebook.getCell(1).setSource('my own code');
    insert(notebook, 'new', 'cell-0', ['old']);
    expect(ids(notebook)).toEqual(['cell-0', 'new-code', 'new-answer', 'old-code', 'cell-1', 'cell-2']);
  });

  it('leaves the pending cells of other questions', () => {
    insert(notebook, 'other', 'cell-2');
    insert(notebook, 'new', 'cell-0', ['old']);
    expect(ids(notebook)).toContain('other-code');
  });

  it('is one undo step, which brings the old cells back', () => {
    insert(notebook, 'new', 'cell-0', ['old']);
    notebook.undo();
    expect(ids(notebook)).toEqual(['cell-0', 'old-code', 'old-answer', 'cell-1', 'cell-2']);
    notebook.redo();
    expect(ids(notebook)).toEqual(['cell-0', 'new-code', 'new-answer', 'cell-1', 'cell-2']);
  });
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

describe('the right notebook', () => {
  const other = (): NotebookPanel => panelOf(notebookOf('y'), 'k');

  it('is the one with the cell, not the one in front', () => {
    const right = panelOf(notebookOf('a', 'b', 'c'), 'k');
    expect(findNotebook(trackerOf(other(), right), 'k', ['cell-2'])).toBe(right);
  });

  it('is the only one of the kernel when the cell is gone', () => {
    const only = other();
    expect(findNotebook(trackerOf(only, panelOf(notebook, 'another')), 'k', ['deleted'])).toBe(only);
  });

  it('is never guessed among several', () => {
    expect(() => findNotebook(trackerOf(other(), other()), 'k', ['deleted'])).toThrow(/^2 notebooks share/);
  });

  it('is none when the kernel has none open here', () => {
    expect(() => findNotebook(trackerOf(panelOf(notebook, 'another')), 'k', ['cell-0'])).toThrow(
      /no notebook/
    );
    expect(() => findNotebook(trackerOf(panelOf(null, 'k')), 'k', ['cell-0'])).toThrow(/no notebook/);
  });

  it('is one for two views of the same document', () => {
    const [first, view] = [other(), other()];
    Object.assign(view, { context: first.context });
    expect(panelsOfKernel(trackerOf(first, view), 'k')).toEqual([first]);
  });

  it('is not written to when it is read-only', () => {
    const panel = other();
    expect(() => requireWritable(panel)).not.toThrow();
    Object.assign(panel.context.contentsModel!, { writable: false });
    expect(() => findNotebook(trackerOf(panel), 'k', ['cell-0'])).toThrow('eda.ipynb is read-only');
  });
});
