import { cellsOf, codeCell, notebookOf } from '../testing/notebooks';
import type { Notebook } from '../testing/notebooks';
import { pendingBlocks, positionIn, resultBlocks } from './blocks';
import { setCellStates } from './cellstates';
import { insertCells } from './insertion';

/** A question with code and answer of the runs `a` and `b` below it. */
function twoRuns(): Notebook {
  const notebook = notebookOf('%%agent\none', 'last');
  insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('a') });
  insertCells(notebook, { anchor: 'a-answer', replace: [], cells: cellsOf('b') });
  return notebook;
}

const ids = (notebook: Notebook): string[][] => [
  ...new Set([...pendingBlocks(notebook).values()].map(block => block.cellIds))
];

it('neighbours of one run are a block, those of the next run another', () => {
  const notebook = twoRuns();
  expect(ids(notebook)).toEqual([
    ['a-code', 'a-answer'],
    ['b-code', 'b-answer']
  ]);
  const block = pendingBlocks(notebook).get('a-answer')!;
  expect([positionIn(block, 'a-code'), positionIn(block, 'a-answer')]).toEqual(['head', 'part']);
});

it('a cell of the user’s own between them makes two blocks of a run', () => {
  const notebook = twoRuns();
  notebook.insertCells(2, [codeCell('mine', 'x')]);
  expect(ids(notebook).slice(0, 2)).toEqual([['a-code'], ['a-answer']]);
  expect(positionIn(pendingBlocks(notebook).get('a-answer')!, 'a-answer')).toBe('only');
});

it('what is decided belongs to no pending block and still to the result', () => {
  const notebook = twoRuns();
  setCellStates([notebook.cells[1]], 'accepted');
  expect(ids(notebook)[0]).toEqual(['a-answer']);
  expect(resultBlocks(notebook).get('a-answer')!.cellIds).toEqual(['a-code', 'a-answer']);
});
