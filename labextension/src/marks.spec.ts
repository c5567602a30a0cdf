import { Signal } from '@lumino/signaling';
import type { Cell } from '@jupyterlab/cells';
import { CodeCell, CodeCellModel } from '@jupyterlab/cells';
import {
  CodeMirrorEditorFactory,
  ybinding,
  EditorExtensionRegistry,
  EditorLanguageRegistry
} from '@jupyterlab/codemirror';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import type { CellDecisions } from './decisions';
import { NotebookMarks } from './marks';
import { insertCells, markRun } from './notebook';
import type { Notebook } from './testing/notebooks';
import { cellsOf, notebookOf, panelOf } from './testing/notebooks';

const rendermime = new RenderMimeRegistry({ initialFactories: standardRendererFactories });

function codeCellOf(shared: unknown): CodeCell {
  const extensions = new EditorExtensionRegistry();
  extensions.addExtension({
    name: 'shared-model-binding',
    factory: options =>
      EditorExtensionRegistry.createImmutableExtension(
        ybinding({ ytext: (options.model.sharedModel as unknown as { ysource: never }).ysource })
      )
  });
  const factory = new CodeMirrorEditorFactory({ extensions, languages: new EditorLanguageRegistry() });
  const contentFactory = new CodeCell.ContentFactory({
    editorFactory: options => factory.newInlineEditor(options)
  });
  const model = new CodeCellModel({ sharedModel: shared as never });
  const cell = new CodeCell({ model, rendermime, contentFactory, placeholder: false }).initializeState();
  Widget.attach(cell, document.body);
  return cell;
}

let notebook: Notebook;
let panel: NotebookPanel;
let marks: NotebookMarks;
let done: string[];

function show(fresh: Notebook): Cell[] {
  notebook = fresh;
  panel = panelOf(notebook);
  const widgets = notebook.cells.filter(cell => cell.cell_type === 'code').map(codeCellOf);
  const model = Object.assign(panel.content.model!, {
    cells: { changed: new Signal({}) },
    metadataChanged: new Signal({})
  });
  Object.assign(panel.content, {
    widgets,
    model,
    modelChanged: new Signal({}),
    codeMimetype: 'text/x-ipython'
  });
  done = [];
  const record = (what: string) => (): void => void done.push(what);
  const decisions = {
    accept: record('accept'),
    edit: record('edit'),
    discard: record('discard'),
    apply: record('apply'),
    noticeRestored: () => undefined,
    markEdited: record('edited')
  };
  marks = new NotebookMarks(panel, decisions as unknown as CellDecisions, nullTranslator.load('x'));
  return widgets;
}

/** Wait for the refresh that is on its way. */
const refreshed = (): Promise<void> =>
  new Promise(resolve => {
    const once = (): void => {
      marks.changed.disconnect(once);
      setTimeout(resolve);
    };
    marks.changed.connect(once);
  });
const bar = (cell: Cell): Element | null => cell.node.querySelector('.jp-CodeAgent-cellBar');

function pendingNotebook(): Notebook {
  const fresh = notebookOf('%%agent\none');
  insertCells(fresh, { anchor: 'cell-0', replace: [], cells: cellsOf('r') });
  return fresh;
}

afterEach(() => {
  marks.dispose();
  panel.content.widgets.forEach(cell => cell.dispose());
});

it('only a pending cell gets a bar, whose buttons decide', async () => {
  const [prompt, code] = show(pendingNotebook());
  await refreshed();
  expect(bar(prompt)).toBeNull();
  expect(code.hasClass('jp-CodeAgent-pending')).toBe(true);
  bar(code)!
    .querySelectorAll('button')
    .forEach(button => button.click());
  expect(done).toEqual(['accept', 'apply', 'edit', 'discard']);
});

it('the bar goes when the cell is accepted', async () => {
  const [, code] = show(pendingNotebook());
  await refreshed();
  markRun(notebook, 'r', 'accepted');
  await refreshed();
  expect(bar(code)).toBeNull();
  expect(code.hasClass('jp-CodeAgent-pending')).toBe(false);
});

it('a pending cell in which the user types counts as edited and has no bar any more', async () => {
  const [, code] = show(pendingNotebook());
  await refreshed();
  expect(done).toEqual([]);
  notebook.getCell(1).setSource('my own');
  await refreshed();
  expect(done).toContain('edited');
  expect(bar(code)).toBeNull();
});

it('a prompt is prose, and code again when it is not a prompt any more', async () => {
  const [prompt] = show(notebookOf('%%agent --new\nWhy?'));
  await refreshed();
  expect([prompt.hasClass('jp-CodeAgent-prompt'), prompt.model.mimeType]).toEqual([true, 'text/plain']);
  notebook.getCell(0).setSource('%%agents');
  await refreshed();
  expect([prompt.hasClass('jp-CodeAgent-prompt'), prompt.model.mimeType]).toEqual([false, 'text/x-ipython']);
});

it('a prompt stays prose when the notebook learns of the kernel’s language', async () => {
  const [prompt] = show(notebookOf('%%agent\nWhat is the sum?'));
  await refreshed();
  prompt.model.mimeType = 'text/x-ipython';
  await refreshed();
  expect(prompt.model.mimeType).toBe('text/plain');
});
