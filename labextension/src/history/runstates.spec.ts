import { setCellStates } from '../notebook/cellstates';
import { discardRuns } from '../notebook/discarding';
import { insertCells } from '../notebook/insertion';
import type { Notebook } from '../testing/notebooks';
import { cellsOf, notebookOf } from '../testing/notebooks';
import { decisionsBetween, isReloaded, isEqual, runStates, snapshotOf } from './runstates';

let notebook: Notebook;
const insert = (runId: string): unknown =>
  insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf(runId) });
const decided = (change: () => unknown): [string, string][] => {
  const before = runStates(notebook);
  change();
  return decisionsBetween(before, runStates(notebook));
};

beforeEach(() => {
  notebook = notebookOf('%%agent\none');
});

it('the code of a run tells what is decided about it; where it is gone, what is left', () => {
  const state = (): unknown => runStates(notebook).get('a');
  expect(state()).toBeUndefined();
  insert('a');
  expect(state()).toBe('pending');
  setCellStates([notebook.cells[2]], 'accepted'); // the answer
  expect(state()).toBe('pending');
  notebook.deleteCell(1);
  expect(state()).toBe('accepted');
  insert('b');
  notebook.cells[1].setSource('changed, nobody knows by whom');
  expect(runStates(notebook).get('b')).toBe('pending');
  setCellStates([notebook.cells[1]], 'edited');
  expect(runStates(notebook).get('b')).toBe('edited');
});

it('what was inserted, marked, discarded and brought back is reported once', () => {
  expect(decided(() => insert('a'))).toEqual([['a', 'pending']]);
  expect(decided(() => setCellStates(notebook.cells.slice(1), 'accepted'))).toEqual([['a', 'accepted']]);
  insert('b');
  expect(decided(() => discardRuns(notebook, ['b']))).toEqual([['b', 'discarded']]);
  expect(decided(() => notebook.undo())).toEqual([['b', 'pending']]);
  expect(decided(() => undefined)).toEqual([]);
});

it('pending cells that went were discarded; accepted ones are the user’s own to delete', () => {
  insert('a');
  insert('b');
  setCellStates(notebook.cells.slice(1, 3), 'accepted');
  expect(decided(() => [4, 3, 2, 1].forEach(index => notebook.deleteCell(index)))).toEqual([
    ['a', 'discarded']
  ]);
});

it('a cell that was moved has not changed', () => {
  insert('a');
  const before = runStates(notebook);
  notebook.moveCell(1, 0);
  expect(isEqual(before, runStates(notebook))).toBe(true);
});

it('a notebook was read anew when none of its cells is left, not when some were deleted', () => {
  insert('a');
  const before = snapshotOf(notebook);
  notebook.deleteCell(1);
  expect(isReloaded(before, snapshotOf(notebook))).toBe(false);
  notebook.fromJSON(notebook.toJSON());
  expect(isReloaded(before, snapshotOf(notebook))).toBe(true);
  expect(isReloaded(snapshotOf(notebookOf()), before)).toBe(true); // it was still empty
});
