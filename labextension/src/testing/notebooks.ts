/** Real notebook models, and as much of a panel around them as the code looks at. */
import { YNotebook } from '@jupyter/ydoc';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import {
  applyUpdate,
  type Array as YArray,
  Doc,
  encodeStateAsUpdate,
  type Map as YMap,
  type Text as YText
} from 'yjs';

import { sha256 } from '../common/sha256';
import type { IProvenance } from '../notebook/provenance';
import { META, provenance } from '../notebook/provenance';
import type { ISharedNotebook } from '../notebook/sharednotebook';
import type { CellState, ICell } from '../protocol/messages';
import type { FakeKernel } from './kernel';

export type Notebook = ISharedNotebook & YNotebook;

/** Code cells with the ids cell-0, cell-1 …, with nothing to undo. */
export function notebookOf(...sources: string[]): Notebook {
  const notebook = YNotebook.create({ disableDocumentWideUndoRedo: false }) as YNotebook;
  notebook.insertCells(
    0,
    sources.map((source, i) => codeCell(`cell-${i}`, source))
  );
  notebook.clearUndoHistory();
  return notebook as unknown as Notebook;
}

export function codeCell(id: string, source: string, metadata: object = {}): ICell & { id: string } {
  return { id, cell_type: 'code', source, metadata: { ...metadata }, outputs: [], execution_count: null };
}

/** The cells that a run brings: code and answer. */
export function cellsOf(runId: string, source = `run_${runId}()`, state: CellState = 'pending'): ICell[] {
  const common = { run_id: runId, model: 'm', code_sha256: sha256(source), state };
  const code: IProvenance = { ...common, role: 'code' };
  const answer: IProvenance = { ...common, role: 'answer' };
  return [
    codeCell(`${runId}-code`, source, { [META]: code }),
    {
      id: `${runId}-answer`,
      cell_type: 'markdown',
      source: `answer of ${runId}`,
      metadata: { [META]: answer }
    } as unknown as ICell
  ];
}

export const ids = (notebook: ISharedNotebook): string[] => notebook.cells.map(cell => cell.id);
export const states = (notebook: ISharedNotebook): (CellState | undefined)[] =>
  notebook.cells.map(cell => provenance(cell)?.state);

/** Somebody else, who edits the same notebook in another page, changes the text of a cell. */
export function typedElsewhere(notebook: Notebook, index: number, source: string): void {
  changedElsewhere(notebook, cells => {
    const text = cells.get(index).get('source') as YText;
    text.delete(0, text.length);
    text.insert(0, source);
  });
}

/** Somebody else changes the cells of the same notebook in another page. */
export function changedElsewhere(notebook: Notebook, change: (cells: YArray<YMap<unknown>>) => void): void {
  const other = new Doc();
  applyUpdate(other, encodeStateAsUpdate(notebook.ydoc));
  change(other.getArray<YMap<unknown>>('cells'));
  applyUpdate(notebook.ydoc, encodeStateAsUpdate(other));
}

let counter = 0;

/** A panel that shows this notebook. */
export function panelOf(notebook: ISharedNotebook | null, kernelId: string | null = 'k'): NotebookPanel {
  const model = notebook && { sharedModel: notebook, readOnly: false };
  const content = { model, widgets: [], node: document.createElement('div') };
  const kernel = kernelId === null ? null : { id: kernelId };
  return {
    id: `panel-${counter++}`,
    content,
    context: {
      path: 'eda.ipynb',
      contentsModel: { writable: true },
      isReady: true,
      ready: Promise.resolve()
    },
    sessionContext: { session: { kernel }, kernelDisplayName: 'Python 3' },
    isDisposed: false
  } as unknown as NotebookPanel;
}

/** A notebook panel with this kernel, and the signals that are listened to. */
export function panelWith(kernel: FakeKernel | null, notebook: Notebook = notebookOf('x')): NotebookPanel {
  const panel = panelOf(notebook);
  const signals = { kernelChanged: new Signal({}), ready: Promise.resolve() };
  Object.assign(panel.sessionContext, { session: { kernel }, ...signals });
  return Object.assign(panel, { disposed: new Signal({}) });
}

export function trackerOf(...panels: NotebookPanel[]): INotebookTracker {
  const tracker = {
    currentWidget: panels[0] ?? null,
    forEach: (act: (panel: NotebookPanel) => void) => panels.forEach(act),
    find: (wanted: (panel: NotebookPanel) => boolean) => panels.find(wanted)
  } as unknown as { widgetAdded: unknown; currentChanged: unknown };
  tracker.widgetAdded = new Signal(tracker);
  tracker.currentChanged = new Signal(tracker);
  return tracker as unknown as INotebookTracker;
}
