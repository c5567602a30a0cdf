import { NotebookActions } from '@jupyterlab/notebook';

import { agentCell, insertAndRun, obstacle, placeBelow } from './asking';
import { AgentModel } from './model';
import { insertCells } from './notebook';
import { stateMessage } from './testing/golden';
import { cellsOf, notebookOf, panelOf } from './testing/notebooks';

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
    expect([placeBelow(notebook, 0), placeBelow(notebook, 1), placeBelow(notebook, 3)]).toEqual([3, 3, 4]);
    expect(placeBelow(notebookOf('x'), -1)).toBe(0);
  });
});

describe('what stands against asking', () => {
  const ready = (): AgentModel => {
    const model = new AgentModel();
    model.apply(stateMessage());
    return model;
  };
  const panel = panelOf(notebookOf('x'));

  it('is nothing where notebook, kernel and agent are there', () => {
    expect(obstacle(panel, ready().state)).toBeNull();
  });

  it('is said, the first of them first', () => {
    expect(obstacle(null, null)).toBe('no-notebook');
    const readOnly = { ...panel, context: { contentsModel: { writable: false } } } as unknown as typeof panel;
    expect(obstacle(readOnly, ready().state)).toBe('read-only');
    expect(obstacle(panelOf(notebookOf('x'), null), null)).toBe('no-kernel');
    const dead = { ...panel, sessionContext: { session: { kernel: { status: 'dead' } } } };
    expect(obstacle(dead as unknown as typeof panel, ready().state)).toBe('dead');
    const absent = new AgentModel();
    expect(obstacle(panel, absent.state)).toBe('connecting');
    absent.setLink('absent');
    expect(obstacle(panel, absent.state)).toBe('absent');
  });
});
