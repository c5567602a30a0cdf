import { insertMessage } from '../testing/golden';
import type { Notebook } from '../testing/notebooks';
import { cellsOf, codeCell, ids, notebookOf, panelOf, states, trackerOf } from '../testing/notebooks';
import { isPending, setRunState } from './cellstates';
import { insertCells } from './insertion';
import { findNotebook } from './panels';

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
