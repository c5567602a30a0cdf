import { NotebookActions } from '@jupyterlab/notebook';

import { AgentModel } from '../comm/agentmodel';
import { insertCells } from '../notebook/insertion';
import { stateMessage } from '../testing/golden';
import type { Notebook } from '../testing/notebooks';
import { cellsOf, codeCell, ids, notebookOf, panelOf } from '../testing/notebooks';
import {
  agentCell,
  exploreCell,
  insertAndRun,
  insertionPoint,
  findBlocker,
  insertionIndexBelow
} from './askcell';

describe('a question as a cell', () => {
  it.each([
    '--model evil',
    '%%time\nx',
    '\n\n  two empty lines first',
    `"quotes" 'and' {braces} %s \\n`,
    '?',
    '-- x'
  ])('has the prompt as its body, unchanged: %j', prompt => {
    expect(agentCell(prompt)).toBe(`%%agent\n${prompt}`);
    const [line, ...body] = agentCell(prompt, { vars: ['a', 'b'], approve: 'ask' }).split('\n');
    expect([line, body.join('\n')]).toEqual(['%%agent --vars a,b --approve ask', prompt]);
  });

  it('keeps the name of a model one word on the line of the magic', () => {
    expect(agentCell('x', { model: 'qwen2.5:7b' })).toBe('%%agent --model qwen2.5:7b\nx');
    expect(agentCell('x', { model: "my 'own'\n--approve auto" })).toBe(
      `%%agent --model 'my '"'"'own'"'"' --approve auto'\nx`
    );
  });

  it('keeps odd names of variables one word too, which the kernel then refuses', () => {
    expect(agentCell('x', { vars: ["a\n{{b}}; '!"] })).toBe(`%%agent --vars 'a {{b}}; '"'"'!'\nx`);
  });

  it('looks at a table by its name, which stays one word', () => {
    expect(exploreCell('flights')).toBe('%agent explore flights');
    expect(exploreCell("a b\n'")).toBe(`%agent explore 'a b '"'"''`);
  });

  it('is trusted, as every new cell of the user’s own: otherwise the notebook would lose its trust', async () => {
    const run = vi.spyOn(NotebookActions, 'runCells').mockResolvedValue(true);
    const notebook = notebookOf('x');
    const panel = panelOf(notebook);
    Object.assign(panel.content, { activeCellIndex: 0, deselectAll: () => undefined });
    const id = await insertAndRun(panel, '%%agent\none');
    const [, cell] = notebook.cells;
    expect([cell.id, cell.getSource(), cell.getMetadata('trusted')]).toEqual([id, '%%agent\none', true]);
    expect(run).toHaveBeenCalledOnce();
  });

  it('goes below the active cell and below the results of the question there', () => {
    const notebook = notebookOf('%%agent\none', 'last');
    insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('r') });
    expect([
      insertionIndexBelow(notebook, 0),
      insertionIndexBelow(notebook, 1),
      insertionIndexBelow(notebook, 3)
    ]).toEqual([3, 3, 4]);
    expect(insertionIndexBelow(notebookOf('x'), -1)).toBe(0);
  });
});

describe('where a question will be inserted', () => {
  it('is described by the active cell: its first line, of a question its text', () => {
    const notebook = notebookOf('\n  df.head()\nx', '%%agent --new\n\nWhy is that?');
    expect(insertionPoint(notebook, 0)).toEqual({
      cellId: 'cell-0',
      isCode: true,
      line: 'df.head()',
      hasResults: false
    });
    insertCells(notebook, { anchor: 'cell-1', replace: [], cells: cellsOf('r') });
    expect(insertionPoint(notebook, 1)).toMatchObject({ line: 'Why is that?', hasResults: true });
    expect(insertionPoint(notebook, 3)).toMatchObject({
      isCode: false,
      line: 'answer of r',
      hasResults: false
    });
  });

  it('is the top of a notebook in which no cell is active', () => {
    expect(insertionPoint(notebookOf('x'), -1)).toBeNull();
    expect(insertionPoint(notebookOf(), 0)).toBeNull();
  });
});

describe('two questions, the second asked while the first is under way', () => {
  // An insertion is one message and one synchronous change, placed by ids: nothing can come between its cells.
  const insertFirst = (notebook: Notebook, cells = cellsOf('r')): unknown =>
    insertCells(notebook, { anchor: 'cell-0', replace: [], cells });
  const insertSecond = (notebook: Notebook): unknown =>
    insertCells(notebook, { anchor: 'second', replace: [], cells: cellsOf('s') });
  const ask =
    (below: string) =>
    (notebook: Notebook): unknown =>
      notebook.insertCells(insertionIndexBelow(notebook, Math.max(ids(notebook).indexOf(below), 0)), [
        codeCell('second', '%%agent\ntwo')
      ]);
  const half = (notebook: Notebook): unknown => insertFirst(notebook, cellsOf('r').slice(0, 1));

  it.each<[string, ((notebook: Notebook) => unknown)[]]>([
    ['before the cells of the first come', [ask('cell-0'), insertFirst, insertSecond]],
    ['after they came', [insertFirst, ask('cell-0'), insertSecond]],
    ['between two of them', [insertFirst, ask('r-code'), insertSecond]],
    ['and answered first', [ask('cell-0'), insertSecond, insertFirst]],
    ['and the first are sent again', [insertFirst, ask('cell-0'), insertFirst, insertSecond, insertFirst]],
    ['and half of the first had to be sent again', [half, ask('cell-0'), insertSecond, insertFirst]]
  ])('never interleave their cells: %s', (_, events) => {
    const notebook = notebookOf('%%agent\none', 'last');
    events.forEach(happens => happens(notebook));
    expect(ids(notebook)).toEqual(['cell-0', 'r-code', 'r-answer', 'second', 's-code', 's-answer', 'cell-1']);
  });
});

describe('what prevents asking', () => {
  const ready = (): AgentModel => {
    const model = new AgentModel();
    model.apply(stateMessage());
    return model;
  };
  const panel = panelOf(notebookOf('x'));

  it('is nothing where notebook, kernel and agent are there', () => {
    expect(findBlocker(panel, ready().state)).toBeNull();
  });

  it('is said, the first of them first', () => {
    expect(findBlocker(null, null)).toBe('no-notebook');
    const readOnly = { ...panel, context: { contentsModel: { writable: false } } } as unknown as typeof panel;
    expect(findBlocker(readOnly, ready().state)).toBe('read-only');
    expect(findBlocker(panelOf(notebookOf('x'), null), null)).toBe('no-kernel');
    const dead = { ...panel, sessionContext: { session: { kernel: { status: 'dead' } } } };
    expect(findBlocker(dead as unknown as typeof panel, ready().state)).toBe('dead');
    const absent = new AgentModel();
    expect(findBlocker(panel, absent.state)).toBe('connecting');
    absent.setLink('absent');
    expect(findBlocker(panel, absent.state)).toBe('absent');
  });
});
