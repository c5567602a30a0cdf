import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import { Panel, Widget } from '@lumino/widgets';
import { minimalScroll, scrollToCell } from './scrolling';

/** A notebook that has drawn none of its cells, as far as scrolling knows one. */
function undrawn(windowingMode: string): { notebook: Notebook; cell: Cell } {
  const page = new Panel();
  Widget.attach(page, document.body);
  const cell = Object.assign(new Widget(), { ready: Promise.resolve() }) as unknown as Cell;
  const notebook = {
    widgets: [cell],
    layout: page.layout,
    isDisposed: false,
    notebookConfig: { windowingMode },
    outerNode: page.node,
    scrollToItem: () => Promise.resolve()
  } as unknown as Notebook;
  return { notebook, cell };
}

describe('a cell that JupyterLab has not drawn yet', () => {
  test.each(['defer', 'contentVisibility'])(
    'is drawn out of turn in the mode %s, whatever its type',
    async mode => {
      const { notebook, cell } = undrawn(mode);
      await scrollToCell(notebook, cell);
      expect(cell.isAttached).toBe(true);
      expect(cell.dataset.windowedListIndex).toBe('0');
    }
  );

  test('is left to JupyterLab where that draws what is in view alone', async () => {
    const { notebook, cell } = undrawn('full');
    await scrollToCell(notebook, cell);
    expect(cell.isAttached).toBe(false);
  });
});

describe('the least that is scrolled', () => {
  const seen = { top: 100, bottom: 500 };
  test.each([
    ['nothing where all of it is in view', { top: 120, bottom: 480 }, 0],
    ['down until its end is in view', { top: 380, bottom: 690 }, 198],
    ['down to its beginning where it is higher than the view', { top: 300, bottom: 2000 }, 300 - 100 - 8],
    ['up to its beginning', { top: 20, bottom: 60 }, -88],
    ['up to its beginning where it goes on below the view', { top: 20, bottom: 2000 }, -88]
  ])('is %s', (_, wanted, by) => {
    expect(minimalScroll(seen, wanted)).toBe(by);
  });
});
