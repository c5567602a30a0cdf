import type { YCodeCell } from '@jupyter/ydoc';
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

import { setRunState } from '../notebook/cellstates';
import { insertCells } from '../notebook/insertion';
import { META } from '../notebook/provenance';
import type { IRun } from '../protocol/run';
import type { Notebook } from '../testing/notebooks';
import { cellsOf, codeCell, notebookOf, panelOf, typedElsewhere } from '../testing/notebooks';
import type { CellActions } from './cellactions';
import type { CellDecisions } from './celldecisions';
import { NotebookDecorations } from './celldecorations';
import type { IRefinement, Refinements } from './refinements';
import type { ResultVersions } from './resultversions';

const rendermime = new RenderMimeRegistry({ initialFactories: standardRendererFactories });

function codeCellOf(shared: unknown, drawn = true): CodeCell {
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
  const editorConfig = { autoClosingBrackets: true };
  const cell = new CodeCell({ model, rendermime, contentFactory, editorConfig, placeholder: !drawn });
  if (!drawn) {
    return cell; // as one that has not been scrolled to
  }
  cell.initializeState();
  Widget.attach(cell, document.body);
  return cell;
}

let notebook: Notebook;
let panel: NotebookPanel;
let decorations: NotebookDecorations;
let done: string[];
/** Questions that the kernel knows, by run. */
let known: Map<string, string>;
/** Runs that left the conversation. */
let forgotten: Set<string>;
/** What the history has, by run. */
const records = new Map<string, IRun>();
let actions: { changed: Signal<object, void>; showButtons: boolean } & Record<string, unknown>;
/** What the kernel can answer next, whatever the run. */
let nextQuestions: string[] = [];
/** How it goes with the version that is asked for. */
let refining: IRefinement | null;
let refiningChanged: Signal<object, string>;

function show(fresh: Notebook, drawn = true): Cell[] {
  notebook = fresh;
  panel = panelOf(notebook);
  const widgets = notebook.cells
    .filter(cell => cell.cell_type === 'code')
    .map(cell => codeCellOf(cell, drawn));
  const model = Object.assign(panel.content.model!, {
    cells: { changed: new Signal({}) },
    metadataChanged: new Signal({})
  });
  Object.assign(panel.content, {
    widgets,
    model,
    modelChanged: new Signal({}),
    activeCellChanged: new Signal({}),
    activeCell: null,
    toggleClass: () => true,
    codeMimetype: 'text/x-ipython'
  });
  done = [];
  const record = (what: string) => (): void => void done.push(what);
  const decisions = {
    acceptCells: record('accept'),
    edit: record('edit'),
    discardCells: record('discard'),
    apply: record('apply'),
    markEdited: record('edited')
  };
  known = new Map();
  forgotten = new Set();
  actions = {
    changed: new Signal<object, void>({}),
    showButtons: true,
    canAsk: () => known.size > 0,
    question: (_: unknown, runId: string) => known.get(runId),
    canGoOn: (_: unknown, runId: string) => known.has(runId) && !forgotten.has(runId),
    fix: async () => void done.push('fix'),
    explain: async () => void done.push('explain'),
    nextQuestions: () => nextQuestions,
    askNext: async (_: unknown, ...about: string[]) => void done.push(`next ${about.join(' ')}`),
    askFrom: async () => void done.push('ask from')
  };
  records.clear();
  nextQuestions = [];
  refining = null;
  refiningChanged = new Signal<object, string>({});
  const refinements = {
    changed: refiningChanged,
    of: () => refining,
    ask: async (_: unknown, ...about: string[]) => void done.push(`ask ${about.join(' ')}`),
    stop: (_: unknown, runId: string) => void done.push(`stop ${runId}`)
  };
  const versions = {
    show: async (_: unknown, runId: string, step: number) => void done.push(`show ${runId} ${step}`)
  };
  decorations = new NotebookDecorations(panel, {
    decisions: decisions as unknown as CellDecisions,
    actions: actions as unknown as CellActions,
    refinements: refinements as unknown as Refinements,
    versions: versions as unknown as ResultVersions,
    sync: { reportChanges: () => undefined },
    trans: nullTranslator.load('x'),
    readRun: async (_, runId) => {
      const run = records.get(runId);
      if (!run) {
        throw new Error('There is no such run.');
      }
      return run;
    },
    showRun: runId => void done.push(`run ${runId}`)
  });
  return widgets;
}

/** Wait for the refresh that is on its way. */
const refreshed = (): Promise<void> =>
  new Promise(resolve => {
    const once = (): void => {
      decorations.changed.disconnect(once);
      setTimeout(resolve);
    };
    decorations.changed.connect(once);
  });
const bar = (cell: Cell): Element | null => cell.node.querySelector('.jp-CodeAgent-cellBar');

function pendingNotebook(): Notebook {
  const fresh = notebookOf('%%agent\none');
  insertCells(fresh, { anchor: 'cell-0', replace: [], cells: cellsOf('r') });
  return fresh;
}

afterEach(() => {
  decorations.dispose();
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

it('a pending result of a recorded run has its verdict until it is decided', async () => {
  const verdict = { level: 'look', reason: '1 row left out' };
  const [, code] = show(pendingNotebook());
  records.set('r', { code: 'run_r()', verdict, operations: [] } as unknown as IRun);
  const line = (): Element | null => code.node.querySelector('.jp-CodeAgent-verdict');
  await refreshed();
  await vi.waitFor(() => expect(line()?.textContent).toBe('Worth a look: 1 row left out'));
  setRunState(notebook, 'r', 'accepted');
  await refreshed();
  expect(line()).toBeNull();
});

it('a verdict on other code than the cell has is not shown', async () => {
  const verdict = { level: 'checked', reason: 'all is well' };
  const [, code] = show(pendingNotebook());
  records.set('r', { code: 'something else', verdict, operations: [] } as unknown as IRun);
  await refreshed();
  await new Promise(resolve => setTimeout(resolve)); // what is drawn later than the bar
  expect(code.node.querySelector('.jp-CodeAgent-verdict')).toBeNull();
});

it('the bar goes when the cell is accepted', async () => {
  const [, code] = show(pendingNotebook());
  await refreshed();
  setRunState(notebook, 'r', 'accepted');
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

it('a pending cell that somebody else has changed has no bar, and is decided by nobody here', async () => {
  const [, code] = show(pendingNotebook());
  await refreshed();
  typedElsewhere(notebook, 1, 'theirs');
  await refreshed();
  expect(notebook.getCell(1).getSource()).toBe('theirs');
  expect(bar(code)).toBeNull();
  expect(done).toEqual([]);
  typedElsewhere(notebook, 1, 'run_r()');
  await refreshed();
  expect(bar(code)).not.toBeNull();
  expect(done).toEqual([]);
});

it('a cell that comes as pending with another text than its run brought is decided by nobody', async () => {
  const fresh = notebookOf('%%agent\none');
  const [forged] = cellsOf('r');
  insertCells(fresh, { anchor: 'cell-0', replace: [], cells: [{ ...forged, source: 'evil()' }] });
  const [, code] = show(fresh);
  await refreshed();
  expect(bar(code)).toBeNull();
  expect(done).toEqual([]);
});

it('a prompt is prose, and code again when it is not a prompt any more', async () => {
  const [prompt] = show(notebookOf('%%agent --new\nWhy?')) as CodeCell[];
  await refreshed();
  const look = (): unknown[] => [
    prompt.hasClass('jp-CodeAgent-prompt'),
    prompt.model.mimeType,
    prompt.editor!.getOption('autoClosingBrackets') // no second quote behind an apostrophe
  ];
  await vi.waitFor(() => expect(look()).toEqual([true, 'text/plain', false]));
  notebook.getCell(0).setSource('%%agents');
  await vi.waitFor(() => expect(look()).toEqual([false, 'text/x-ipython', true]));
});

it('what the agent says below its cells is laid out as prose, and what other cells print is not', async () => {
  const cells = show(notebookOf('%%agent\nWhy?', '%agent explore flights', 'print(1)'));
  await refreshed();
  expect(cells.map(cell => cell.hasClass('jp-CodeAgent-answers'))).toEqual([true, true, false]);
});

it('a prompt stays prose when the notebook learns of the kernel’s language or the settings change', async () => {
  const [prompt] = show(notebookOf('%%agent\nWhat is the sum?')) as CodeCell[];
  await refreshed();
  prompt.model.mimeType = 'text/x-ipython';
  await vi.waitFor(() => expect(prompt.model.mimeType).toBe('text/plain'));
  prompt.editor!.setOption('autoClosingBrackets', true);
  notebook.getCell(0).setSource('%%agent\nWhat is the sum? ');
  await vi.waitFor(() => expect(prompt.editor!.getOption('autoClosingBrackets')).toBe(false));
});

it('in a notebook of 300 cells a key typed in one of the user’s cells looks at that cell only', async () => {
  const own = Array.from({ length: 300 }, (_, i) => `x${i} = ${i}`);
  const fresh = notebookOf('%%agent\none', ...own);
  insertCells(fresh, { anchor: 'cell-0', replace: [], cells: cellsOf('r') });
  const [, , first] = show(fresh, false);
  await refreshed();
  const looked = new Map<string, number>();
  for (const cell of notebook.cells) {
    for (const what of ['getSource', 'getMetadata'] as const) {
      const real = (cell[what] as (...args: unknown[]) => unknown).bind(cell);
      const counting = (...args: unknown[]): unknown => {
        looked.set(cell.id, (looked.get(cell.id) ?? 0) + 1);
        return real(...args);
      };
      Object.assign(cell, { [what]: counting });
    }
  }
  notebook.getCell(3).setSource('%%agent\nsecond');
  await vi.waitFor(() => expect(first.hasClass('jp-CodeAgent-prompt')).toBe(true));
  expect([...looked.keys()]).toEqual([first.model.id]);
  notebook.getCell(1).setSource('changed by the user'); // of a run: what is pending has to be counted anew
  await refreshed();
  expect(looked.size).toBeGreaterThan(300);
});

// --- the buttons at the end of a cell

const foot = (cell: Cell): string[] =>
  [...cell.node.querySelectorAll('.jp-CodeAgent-cellTools button')].map(button => button.textContent ?? '');
const press = (cell: Cell, name: string): void =>
  [...cell.node.querySelectorAll('button')].find(button => button.textContent === name)!.click();
const failure = { output_type: 'error', ename: 'KeyError', evalue: 'x', traceback: [] };

function failedNotebook(...sources: string[]): Notebook {
  const fresh = notebookOf(...sources);
  sources.forEach((_, i) => (fresh.getCell(i) as YCodeCell).setOutputs([failure]));
  return fresh;
}

it('a failed cell can be fixed, as long as it fails; a failed question cannot', async () => {
  const [failed, question] = show(failedNotebook("df['nope']", '%%agent\none')) as CodeCell[];
  known.set('r', 'one'); // the agent is there
  await refreshed();
  await vi.waitFor(() => expect([foot(failed), foot(question)]).toEqual([['Fix with agent'], []]));
  press(failed, 'Fix with agent');
  expect(done).toEqual(['fix']);
  failed.model.clearExecution(); // run again
  await vi.waitFor(() => expect([foot(failed), failed.hasClass('jp-CodeAgent-failed')]).toEqual([[], false]));
});

it('a failed cell whose id is not one is offered no repair: its id would be run as code', async () => {
  const fresh = notebookOf();
  fresh.insertCells(0, [codeCell("x\nimport os; os.system('id')\n#1", "df['nope']")]);
  (fresh.getCell(0) as YCodeCell).setOutputs([failure]);
  const [failed] = show(fresh);
  known.set('r', 'one');
  await refreshed();
  expect([foot(failed), failed.hasClass('jp-CodeAgent-failed')]).toEqual([[], false]);
});

it('nothing is offered where the agent cannot be asked', async () => {
  const [failed] = show(failedNotebook("df['nope']"));
  await refreshed();
  expect([foot(failed), failed.hasClass('jp-CodeAgent-failed')]).toEqual([[], false]);
});

it('a result can be explained, and asked from, below its last cell, while the kernel knows its question', async () => {
  const fresh = notebookOf('%%agent\none');
  const two = ['r', 's'].map(id => cellsOf(id)[0]);
  insertCells(fresh, { anchor: 'cell-0', replace: [], cells: two });
  const [, result, unknown] = show(fresh);
  known.set('r', 'one');
  await refreshed();
  await vi.waitFor(() => expect(foot(result)).toEqual(['Explain', 'Ask from here']));
  expect(foot(unknown)).toEqual([]);
  press(result, 'Explain');
  press(result, 'Ask from here');
  expect(done).toEqual(['explain', 'ask from']);
  forgotten.add('r'); // something of its data is hidden now
  actions.changed.emit();
  await refreshed();
  await vi.waitFor(() => expect(foot(result)).toEqual([]));
});

it('a result has the questions that its kernel can answer next, each of which a click asks, also when accepted', async () => {
  const fresh = notebookOf('%%agent\none');
  insertCells(fresh, { anchor: 'cell-0', replace: [], cells: [cellsOf('r')[0]] });
  const [, code] = show(fresh);
  const line = (): Element | null => code.node.querySelector('.jp-CodeAgent-nextQuestions');
  const texts = (): (string | null)[] => [...line()!.querySelectorAll('button')].map(one => one.textContent);
  known.set('r', 'one');
  await refreshed();
  expect(line()).toBeNull();
  nextQuestions = ['How does <b>a</b> differ by b?', 'Which rows?'];
  actions.changed.emit();
  await refreshed();
  await vi.waitFor(() => expect(texts()).toEqual(nextQuestions));
  expect(line()!.getAttribute('aria-label')).toBe('Next questions');
  expect(line()!.querySelector('b')).toBeNull();
  line()!.querySelectorAll('button')[1].click();
  expect(done).toEqual(['next r Which rows?']);
  setRunState(notebook, 'r', 'accepted');
  await refreshed();
  expect(texts()).toEqual(nextQuestions);
  known.clear(); // another kernel
  actions.changed.emit();
  await refreshed();
  expect(line()).toBeNull();
});

it('a result out of sight whose questions come, go and come again has one line of them when it is drawn', async () => {
  const fresh = notebookOf('%%agent\none');
  insertCells(fresh, { anchor: 'cell-0', replace: [], cells: [cellsOf('r')[0]] });
  const [, code] = show(fresh, false);
  known.set('r', 'one');
  for (const questions of [['Which rows?'], [], ['Which rows?']]) {
    nextQuestions = questions;
    actions.changed.emit();
    await refreshed();
  }
  Widget.attach(code, document.body);
  Object.assign(code, { placeholder: false }); // as when it is scrolled to
  const lines = (): Element[] => [...code.node.querySelectorAll('.jp-CodeAgent-nextQuestions')];
  await vi.waitFor(() => expect(lines()).not.toEqual([]));
  await new Promise(resolve => setTimeout(resolve)); // whatever else waited for the cell is drawn
  expect(lines()).toHaveLength(1);
});

it('without the buttons, by the user’s setting, the context menu still knows the cell', async () => {
  const [failed] = show(failedNotebook("df['nope']"));
  known.set('r', 'one');
  actions.showButtons = false;
  await refreshed();
  expect([foot(failed), failed.hasClass('jp-CodeAgent-failed')]).toEqual([[], true]);
});

it('arrow keys walk along the buttons of a bar, around its end', async () => {
  const [, code] = show(pendingNotebook());
  await refreshed();
  const buttons = [...bar(code)!.querySelectorAll('button')];
  const key = (name: string): void =>
    void document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
  buttons[0].focus();
  key('ArrowRight');
  expect(document.activeElement).toBe(buttons[1]);
  key('ArrowLeft');
  key('ArrowLeft');
  expect(document.activeElement).toBe(buttons[buttons.length - 1]);
});

// --- another version of a result

const field = (cell: Cell): HTMLInputElement | null => cell.node.querySelector('.jp-CodeAgent-refine input');
const words = (cell: Cell): string | null =>
  cell.node.querySelector('.jp-CodeAgent-refineWords')!.textContent;
const hit = (node: Element, key: string): void =>
  void node.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));

/** With a pending result that the kernel knows. */
async function refinable(): Promise<Cell> {
  const fresh = notebookOf('%%agent\none');
  insertCells(fresh, { anchor: 'cell-0', replace: [], cells: [cellsOf('r')[0]] });
  const [, code] = show(fresh);
  known.set('r', 'one');
  await refreshed();
  await vi.waitFor(() => expect(field(code)).not.toBeNull());
  code.node.tabIndex = -1; // as the notebook's cells have it
  return code;
}

it('below a pending result another version is asked for; Escape leads back to the cell', async () => {
  const code = await refinable();
  field(code)!.focus();
  field(code)!.value = 'top 10';
  hit(field(code)!, 'Enter');
  expect(done).toEqual(['ask r top 10']);
  hit(field(code)!, 'Escape');
  expect(document.activeElement).toBe(code.node);
});

it('while the agent works it says what it does, and can be stopped; a failure leaves the line to be changed', async () => {
  const code = await refinable();
  const emit = (next: IRefinement | null): void => {
    refining = next;
    refiningChanged.emit('r');
  };
  const stop = (): HTMLElement | undefined =>
    [...code.node.querySelectorAll('button')].find(button => button.textContent === 'Stop');
  expect(stop()).toBeUndefined();
  emit({ state: 'running', text: 'top 10', message: 'The model is writing …' });
  expect([field(code)!.readOnly, field(code)!.value, words(code)]).toEqual([
    true,
    'top 10',
    'The model is writing …'
  ]);
  stop()!.focus();
  stop()!.click();
  expect(done).toEqual(['stop r']);
  emit({ state: 'stopping', text: 'top 10', message: 'Stopping …' });
  expect([stop(), document.activeElement]).toEqual([undefined, field(code)]);
  emit({ state: 'failed', text: 'top 10', message: 'no' });
  expect([field(code)!.readOnly, words(code)]).toEqual([false, 'no']);
  expect(code.node.querySelector('[role=alert]')!.textContent).toBe('no');
});

it('what is typed and where survive when the buttons beside it change, and the kernel is busy with something else', async () => {
  const code = await refinable();
  field(code)!.focus();
  field(code)!.value = 'top';
  known.clear(); // the link to the kernel is lost for a moment
  actions.changed.emit();
  await refreshed();
  await vi.waitFor(() => expect(foot(code)).toEqual([]));
  expect([field(code)!.value, document.activeElement]).toEqual(['top', field(code)]);
});

it('no other version is offered of what the kernel does not know, and none of what is decided', async () => {
  const code = await refinable();
  setRunState(notebook, 'r', 'accepted');
  await refreshed();
  await vi.waitFor(() => expect(field(code)).toBeNull());
  const fresh = notebookOf('%%agent\none');
  insertCells(fresh, { anchor: 'cell-0', replace: [], cells: [cellsOf('stranger')[0]] });
  const [, unknown] = show(fresh);
  known.set('r', 'one');
  await refreshed();
  expect(field(unknown)).toBeNull();
});

it('the bar displays the version’s number and leads to the others', async () => {
  const fresh = notebookOf('%%agent\none');
  const versions = ['p', 'r'].map(run_id => ({ run_id, question: '%%agent\none' }));
  const [code] = cellsOf('r');
  const metadata = { [META]: { ...(code.metadata[META] as object), versions } };
  insertCells(fresh, { anchor: 'cell-0', replace: [], cells: [{ ...code, metadata }] });
  const [, shown] = show(fresh);
  await refreshed();
  const group = shown.node.querySelector('[role=group]')!;
  expect([group.getAttribute('aria-label'), group.querySelector('span[title]')!.textContent]).toEqual([
    'Version 2 of 2',
    '2/2'
  ]);
  const [earlier, later] = group.querySelectorAll('button');
  expect(later.disabled).toBe(true);
  earlier.click();
  expect(done).toEqual(['show r -1']);
});

// --- what was kept

it.each(['accepted', 'edited'] as const)(
  'a cell that is %s has a quiet mark that leads to its run',
  async state => {
    const fresh = notebookOf('%%agent\none');
    insertCells(fresh, { anchor: 'cell-0', replace: [], cells: [cellsOf('r')[0]] });
    const [prompt, code] = show(fresh);
    await refreshed();
    const mark = (cell: Cell): HTMLElement | null => cell.node.querySelector('.jp-CodeAgent-origin');
    expect(mark(code)).toBeNull();
    setRunState(notebook, 'r', state);
    await vi.waitFor(() => expect(mark(code)).not.toBeNull());
    expect([mark(prompt), mark(code)!.getAttribute('aria-label')]).toEqual([
      null,
      'Written by the code agent; show its run'
    ]);
    mark(code)!.click();
    expect(done).toContain('run r');
  }
);
