import type { NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import type { KernelConnections } from '../comm/connections';
import { HistoryError } from '../history/client';
import { outputsOf, setOutputs } from '../notebook/outputs';
import type { IRun } from '../protocol/run';
import { run } from '../testing/golden';
import type { Notebook } from '../testing/notebooks';
import { notebookOf, panelOf, trackerOf } from '../testing/notebooks';
import { Receipts } from './receipts';

let notebook: Notebook;
let panel: NotebookPanel;
/** What the page knows of the kernel's agent. */
let state: { link: string; runs: IRun[] };
let changed: Signal<object, object>;
let asked: string[];
let recorded: Record<string, IRun>;

const agentRun = (changes: Partial<IRun>): IRun =>
  run({ id: 'a', ...changes, request: { ...run().request, cell_id: 'cell-0' } });
const displayed = (): unknown[] => outputsOf(notebook.cells[0]).map(output => output.data ?? output.text);

/** As the kernel has left it. */
function held(until: string, text: string): void {
  setOutputs(panel, notebook.cells[0], [
    {
      output_type: 'display_data',
      data: { 'text/plain': text },
      metadata: { codeagent: { run_id: 'a', until } }
    }
  ]);
}

async function looked(): Promise<void> {
  changed.emit({});
  await vi.advanceTimersByTimeAsync(2000);
}

beforeEach(() => {
  vi.useFakeTimers();
  notebook = notebookOf('%%agent\nsum?', 'mine');
  panel = panelOf(notebook);
  [state, asked, recorded] = [{ link: 'ready', runs: [] }, [], {}];
  changed = new Signal<object, object>({});
  const added = new Signal<object, object>({});
  new Receipts({
    connections: {
      added,
      changed: new Signal({}),
      of: () => ({ model: { state } })
    } as unknown as KernelConnections,
    tracker: trackerOf(panel),
    history: {
      get: async id => {
        asked.push(id);
        return recorded[id] ?? Promise.reject(new HistoryError('No such run.', 404));
      },
      inserted: async id => {
        if (!recorded[id]) {
          throw new HistoryError('No such run.', 404);
        }
        return { cells: [], receipt: { 'text/plain': `receipt of ${id}` } };
      }
    }
  });
  added.emit({ model: { changed } });
});

afterEach(() => vi.useRealTimers());

it('progress that was saved before a reload becomes the receipt when the run ends, and not before', async () => {
  held('ended', 'step 1 · the model is writing · 43 s');
  state.runs = [agentRun({ status: 'running' })];
  await looked();
  expect(displayed()).toEqual([{ 'text/plain': 'step 1 · the model is writing · 43 s' }]);
  recorded.a = agentRun({ status: 'ok', placed: 'inserting' });
  state.runs = [recorded.a];
  await looked();
  expect(displayed()).toEqual([{ 'text/plain': 'step 1 · the model is writing · 43 s' }]);
  state.runs = [agentRun({ status: 'ok', placed: 'cells' })];
  await looked();
  expect(displayed()).toEqual([{ 'text/plain': 'receipt of a' }]);
  expect(asked).toEqual([]);
});

it('a run that failed says why below its receipt', async () => {
  held('ended', 'step 1');
  recorded.a = agentRun({ status: 'failed', error: 'The model does not answer.' });
  state.runs = [recorded.a];
  await looked();
  expect(displayed()).toEqual([{ 'text/plain': 'receipt of a' }, 'The model does not answer.']);
});

it('of a run whose kernel is gone the history has the receipt, and is asked once', async () => {
  held('ended', 'step 1');
  state = { link: 'absent', runs: [] };
  await looked();
  await looked();
  expect(asked).toEqual(['a']);
  expect(displayed()).toEqual([{ 'text/plain': 'step 1' }]);
  recorded.a = agentRun({ status: 'interrupted', error: '' });
  state.link = 'ready'; // another kernel
  await looked();
  expect(displayed()[0]).toEqual({ 'text/plain': 'receipt of a' });
});

it('where the history does not have the run, its progress goes when it ends', async () => {
  held('ended', 'step 1');
  state.runs = [agentRun({ status: 'ok' })];
  await looked();
  expect(displayed()).toEqual([]);
});

it('that cells were not inserted stands in the receipt until they are', async () => {
  held('inserted', 'not inserted');
  recorded.a = agentRun({ status: 'ok', placed: 'undelivered' });
  state.runs = [recorded.a];
  await looked();
  expect(displayed()).toEqual([{ 'text/plain': 'not inserted' }]);
  state.runs = [agentRun({ status: 'ok', placed: 'cells' })];
  await looked();
  expect(displayed()).toEqual([{ 'text/plain': 'receipt of a' }]);
});

it('what the kernel updates itself is left to it: the cell is run by this page', async () => {
  held('ended', 'step 1');
  recorded.a = agentRun({ status: 'ok' });
  state.runs = [recorded.a];
  const model = { id: 'cell-0', executionState: 'running' };
  Object.assign(panel.content, { widgets: [{ model }] });
  await looked();
  expect(displayed()).toEqual([{ 'text/plain': 'step 1' }]);
  model.executionState = 'idle';
  await vi.advanceTimersByTimeAsync(2000);
  expect(displayed()).toEqual([{ 'text/plain': 'receipt of a' }]);
});

it('another cell, as a notebook from elsewhere may have it, gets no receipt', async () => {
  held('ended', 'step 1');
  recorded.a = { ...agentRun({ status: 'ok' }), request: { ...run().request, cell_id: 'other' } };
  state.runs = [recorded.a];
  await looked();
  expect(displayed()).toEqual([{ 'text/plain': 'step 1' }]);
});
