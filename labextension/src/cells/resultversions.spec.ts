import type { NotebookPanel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import type { KernelConnection } from '../comm/connection';
import type { KernelConnections } from '../comm/connections';
import type { HistoryClient } from '../history/client';
import { insertCells } from '../notebook/insertion';
import { provenance } from '../notebook/provenance';
import type { ICell } from '../protocol/messages';
import type { IRun } from '../protocol/run';
import { run } from '../testing/golden';
import type { Notebook } from '../testing/notebooks';
import { cellsOf, ids, notebookOf, panelOf, trackerOf } from '../testing/notebooks';
import type { CellDecisions } from './celldecisions';
import { ResultVersions } from './resultversions';

let notebook: Notebook;
let panel: NotebookPanel;
/** How often the record was compared with the notebook. */
let noticed: number;
let revealed: string[];
let inserted: Signal<object, object>;
/** The state of the kernel's agent. */
let changed: Signal<object, { runs: IRun[] }>;
let versions: ResultVersions;

const refined = (runId: string, refines: string): ICell[] =>
  cellsOf(runId).map(cell => ({
    ...cell,
    metadata: { codeagent: { ...(cell.metadata.codeagent as object), refines, refinement: 'top 10' } }
  }));

/** As the kernel orders it. */
function refine(runId: string, refines: string): void {
  const request = { anchor: 'cell-0', replace: [refines], cells: refined(runId, refines) };
  inserted.emit({ panel, cellIds: insertCells(notebook, request) });
}

beforeEach(() => {
  notebook = notebookOf('%%agent\nsum?', 'mine');
  panel = panelOf(notebook);
  Object.assign(panel.content, { activate: () => revealed.push('focus') });
  [noticed, revealed] = [0, []];
  [inserted, changed] = [new Signal({}), new Signal({})];
  const added = new Signal<object, KernelConnection>({});
  versions = new ResultVersions({
    connections: { added } as unknown as KernelConnections,
    tracker: trackerOf(panel),
    decisions: {
      reveal: async (_: NotebookPanel, id: string) => void revealed.push(id)
    } as unknown as CellDecisions,
    history: {
      inserted: async (id: string) => ({
        cells: id === 'a' ? cellsOf('a', undefined, 'accepted') : refined(id, 'a'),
        receipt: { 'text/plain': `receipt of ${id}` }
      })
    } as unknown as HistoryClient,
    compare: async (left, right) => void revealed.push(`${left} beside ${right}`),
    sync: { reportChanges: () => noticed++ },
    trans: nullTranslator.load('x')
  });
  const connection = { inserted, model: { changed }, kernel: { id: 'k' } };
  added.emit(connection as unknown as KernelConnection);
  inserted.emit({
    panel,
    cellIds: insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('a') })
  });
});

const receipt = (): unknown =>
  (notebook.cells[0] as unknown as { getOutputs: () => { data?: object }[] }).getOutputs()[0]?.data;

it('the version before is displayed again, with its question and receipt, and the record is compared', async () => {
  refine('b', 'a');
  await versions.show(panel, 'b', -1);
  expect(ids(notebook)).toEqual(['cell-0', 'a-code', 'a-answer', 'cell-1']);
  expect(provenance(notebook.cells[1])?.state).toBe('pending');
  expect(notebook.cells[0].getSource()).toBe('%%agent\nsum?');
  expect(receipt()).toEqual({ 'text/plain': 'receipt of a' });
  expect(noticed).toBe(1);
  await versions.show(panel, 'a', 1);
  expect([ids(notebook)[1], notebook.cells[0].getSource()]).toEqual(['b-code', '%%agent\nsum?\ntop 10']);
  expect(noticed).toBe(2);
});

it('a version is shown beside the one before it, and the first beside the next', async () => {
  await versions.compare(panel, 'a');
  expect(revealed).toEqual([]);
  refine('b', 'a');
  await vi.waitFor(() => expect(revealed).toEqual(['b-code', 'focus']));
  await versions.compare(panel, 'b');
  await versions.show(panel, 'b', -1);
  await versions.compare(panel, 'a');
  expect(revealed.filter(one => one.includes('beside'))).toEqual(['a beside b', 'a beside b']);
});

it('before the first and after the last version there is none', async () => {
  await versions.show(panel, 'a', -1);
  await versions.show(panel, 'a', 1);
  expect([ids(notebook)[1], noticed]).toEqual(['a-code', 0]);
});

it('the question of a refined run has its receipt once the cells are there, and is written to once', async () => {
  const request = { ...run().request, refines: 'a' };
  const emit = (): void => changed.emit({ runs: [run({ id: 'b', status: 'ok', request })] });
  emit(); // before its cells are anywhere
  refine('b', 'a');
  emit();
  await vi.waitFor(() => expect(receipt()).toEqual({ 'text/plain': 'receipt of b' }));
  const written = vi.spyOn(notebook.cells[0] as unknown as { setOutputs: () => void }, 'setOutputs');
  emit(); // as when the page links to the kernel again
  await new Promise(resolve => setTimeout(resolve));
  expect(written).not.toHaveBeenCalled();
});

it('the keyboard goes to the new cells where it was lost with the old ones, and nowhere else', async () => {
  refine('b', 'a');
  await vi.waitFor(() => expect(revealed).toEqual(['b-code', 'focus']));
  const elsewhere = document.body.appendChild(document.createElement('textarea'));
  elsewhere.focus();
  refine('c', 'b');
  await Promise.resolve();
  expect([revealed.length, document.activeElement]).toEqual([2, elsewhere]);
  elsewhere.remove();
});
