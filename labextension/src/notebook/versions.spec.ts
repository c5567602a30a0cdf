import type { ICell } from '../protocol/messages';
import type { Notebook } from '../testing/notebooks';
import { cellsOf, ids, notebookOf, states } from '../testing/notebooks';
import { setRunState } from './cellstates';
import { discardRuns } from './discarding';
import { insertCells } from './insertion';
import { LastInsertion } from './lastinsertion';
import { META, provenance } from './provenance';
import { versionsOf } from './versions';
import { switchVersion } from './versionswitch';

const QUESTION = '%%agent --vars df\nsum of n by city';

/** The cells of a run that refines another one, as the kernel sends them. */
function refined(runId: string, refines: string, refinement: string): ICell[] {
  return cellsOf(runId).map(cell => ({
    ...cell,
    metadata: { [META]: { ...(cell.metadata[META] as object), refines, refinement } }
  }));
}

let notebook: Notebook;
const refine = (runId: string, refines: string, refinement: string, anchor = 'cell-0'): string[] =>
  insertCells(notebook, { anchor, replace: [refines], cells: refined(runId, refines, refinement) });
const question = (): string => notebook.cells[0].getSource();
const versions = (id: string): string[] | undefined =>
  provenance(notebook.cells.find(cell => cell.id === id)!)?.versions?.map(one => one.run_id);

beforeEach(() => {
  notebook = notebookOf(QUESTION, 'mine = 1');
  insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('a') });
});

it('a refined result replaces the pending one, and its question contains what was asked', () => {
  refine('b', 'a', 'only the largest');
  expect(ids(notebook)).toEqual(['cell-0', 'b-code', 'b-answer', 'cell-1']);
  expect(question()).toBe(`${QUESTION}\nonly the largest`);
  expect(versions('b-code')).toEqual(['a', 'b']);
});

it('it goes where the result is, wherever that was moved to', () => {
  notebook.moveCell(1, 3);
  notebook.moveCell(1, 3);
  expect(ids(notebook)).toEqual(['cell-0', 'cell-1', 'a-code', 'a-answer']);
  refine('b', 'a', 'only the largest');
  expect(ids(notebook)).toEqual(['cell-0', 'cell-1', 'b-code', 'b-answer']);
});

it('the refinement is one step to undo, with the question as it was', () => {
  refine('b', 'a', 'only the largest');
  notebook.undo();
  expect(ids(notebook)).toEqual(['cell-0', 'a-code', 'a-answer', 'cell-1']);
  expect(question()).toBe(QUESTION);
});

it('there and back: each version comes with its question, and none is lost', () => {
  refine('b', 'a', 'only the largest');
  refine('c', 'b', 'as a table');
  expect(question()).toBe(`${QUESTION}\nonly the largest\nas a table`);
  switchVersion(notebook, 'c', refined('b', 'a', 'only the largest'));
  switchVersion(notebook, 'b', cellsOf('a'));
  expect(ids(notebook)).toEqual(['cell-0', 'a-code', 'a-answer', 'cell-1']);
  expect([question(), versions('a-code')]).toEqual([QUESTION, ['a', 'b', 'c']]);
  refine('d', 'a', 'the smallest');
  expect([question(), versions('d-code')]).toEqual([`${QUESTION}\nthe smallest`, ['a', 'b', 'c', 'd']]);
});

it('a question that the user has changed meanwhile stays theirs when another version is displayed', () => {
  refine('b', 'a', 'only the largest');
  notebook.cells[0].setSource('%%agent\nsomething else');
  switchVersion(notebook, 'b', cellsOf('a'));
  expect(question()).toBe('%%agent\nsomething else');
  expect(ids(notebook)).toEqual(['cell-0', 'a-code', 'a-answer', 'cell-1']);
});

it.each([
  ['%agent how many rows?', true],
  [QUESTION, false]
])('a question that cannot hold more stays as it is: %s', (source, editable) => {
  notebook = notebookOf(source);
  notebook.cells[0].setMetadata('editable', editable as never);
  insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('a') });
  refine('b', 'a', 'only the largest');
  expect([question(), ids(notebook)[1]]).toEqual([source, 'b-code']);
});

it('what was accepted stays, and so does its question: the refined result comes beside it', () => {
  setRunState(notebook, 'a', 'accepted');
  refine('b', 'a', 'only the largest');
  expect(states(notebook)).toEqual([undefined, 'pending', 'pending', 'accepted', 'accepted', undefined]);
  expect([question(), versions('b-code')]).toEqual([QUESTION, undefined]);
});

it('a result that was discarded meanwhile is the earlier version all the same', () => {
  discardRuns(notebook, ['a']);
  refine('b', 'a', 'only the largest');
  expect(ids(notebook)).toEqual(['cell-0', 'b-code', 'b-answer', 'cell-1']);
  expect([question(), versions('b-code')]).toEqual([`${QUESTION}\nonly the largest`, ['a', 'b']]);
});

it('a refined run of the history that is inserted again changes no question', () => {
  discardRuns(notebook, ['a']);
  insertCells(notebook, { anchor: 'cell-0', replace: [], cells: refined('b', 'a', 'only the largest') });
  expect([question(), ids(notebook)[1], versions('b-code')]).toEqual([QUESTION, 'b-code', undefined]);
});

it('a result whose question was deleted is refined where it is', () => {
  notebook.deleteCell(0);
  refine('b', 'a', 'only the largest');
  expect(ids(notebook)).toEqual(['b-code', 'b-answer', 'cell-1']);
});

it('what is accepted has no other versions any more, but says what it refines', () => {
  refine('b', 'a', 'only the largest');
  setRunState(notebook, 'b', 'accepted');
  const { versions: none, refines, refinement } = provenance(notebook.cells[1])!;
  expect([none, refines, refinement]).toEqual([undefined, 'a', 'only the largest']);
});

it('the last insertion that can be undone is the refinement', () => {
  const last = new LastInsertion();
  last.remember(notebook, refine('b', 'a', 'only the largest'));
  expect(last.undo(notebook)).toEqual(['b']);
  expect(ids(notebook)).toEqual(['cell-0', 'a-code', 'a-answer', 'cell-1']);
});

it('metadata that makes no sense, in a notebook of somebody else, counts for nothing', () => {
  const cell = provenance(notebook.cells[1])!;
  for (const versions of ['x', {}, [1], [{ run_id: 'a' }], [{ run_id: 'other', question: 'q' }], null]) {
    expect(versionsOf({ ...cell, versions: versions as never })).toEqual([{ run_id: 'a', question: '' }]);
  }
});
