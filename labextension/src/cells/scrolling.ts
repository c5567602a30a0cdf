/** Bringing a cell into view, in each of JupyterLab's ways to draw a long notebook. */
import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import { PanelLayout } from '@lumino/widgets';

/** Cells that are drawn for the first time push the one that is looked for away: then it is scrolled to again. */
const ATTEMPTS = 5;

/**
 * Scroll to a cell and return when it can be seen.
 *
 * One `scrollToItem` is not enough: JupyterLab draws the cells of a long notebook one after another when it has time,
 * and waits 10 s for one that it has not drawn. Heights are guessed until then, and each wish of its own to scroll ends
 * ours with a rejection.
 */
export async function scrollToCell(notebook: Notebook, cell: Cell): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const index = notebook.widgets.indexOf(cell);
    if (index < 0 || notebook.isDisposed) {
      return; // deleted meanwhile
    }
    if (!cell.isAttached && notebook.notebookConfig.windowingMode !== 'full') {
      renderNow(notebook, cell, index);
    }
    const scrolled = notebook.scrollToItem(index, attempt === 0 ? 'smart' : 'center');
    await scrolled.catch(() => undefined); // another wish to scroll came between: look where that has led
    if (cell.isAttached) {
      await cell.ready;
    }
    await nextFrame();
    if (isInView(notebook, cell)) {
      return;
    }
  }
}

/**
 * As JupyterLab's own search does with cells of code (`renderCellOutputs`, which leaves the others): in a long notebook
 * on a slow machine a turn may take minutes.
 */
function renderNow(notebook: Notebook, cell: Cell, index: number): void {
  if (notebook.layout instanceof PanelLayout) {
    cell.dataset.windowedListIndex = `${index}`;
    notebook.layout.insertWidget(index, cell);
  }
}

/** Above and below what is scrolled to, so that it does not stick to the edge; pixels. */
const MARGIN_PX = 8;

/** A stretch on the vertical axis; pixels. */
export interface IVerticalRange {
  top: number;
  bottom: number;
}

/** How far to scroll so that all of it is seen, or its beginning where it is higher than what can be seen. */
export function minimalScroll(seen: IVerticalRange, wanted: IVerticalRange): number {
  const top = wanted.top - seen.top - MARGIN_PX;
  const bottom = wanted.bottom - seen.bottom + MARGIN_PX;
  if (top < 0) {
    return Math.min(top, 0);
  }
  return Math.max(0, Math.min(top, bottom));
}

/** Scroll as little as brings these neighbours into view; neither the focus nor the active cell changes. */
export async function scrollCellsIntoView(notebook: Notebook, cells: readonly Cell[]): Promise<void> {
  const [first] = cells;
  if (!first || notebook.isDisposed) {
    return;
  }
  if (!first.isAttached) {
    await scrollToCell(notebook, first);
  }
  await Promise.all(cells.filter(cell => cell.isAttached).map(cell => cell.ready));
  await nextFrame();
  const drawn = cells.filter(cell => cell.isAttached && !cell.isDisposed);
  if (drawn.length > 0 && !notebook.isDisposed) {
    const top = drawn[0].node.getBoundingClientRect().top;
    const { bottom } = drawn[drawn.length - 1].node.getBoundingClientRect();
    const by = minimalScroll(notebook.outerNode.getBoundingClientRect(), { top, bottom });
    if (Math.abs(by) >= 1) {
      notebook.outerNode.scrollTop += by;
    }
  }
}

/** Whether the beginning of the cell is within what can be seen of the notebook. */
function isInView(notebook: Notebook, cell: Cell): boolean {
  if (!cell.isAttached) {
    return false;
  }
  const seen = notebook.outerNode.getBoundingClientRect();
  const box = cell.node.getBoundingClientRect();
  return box.top >= seen.top - 1 && box.top < seen.bottom;
}

/** A hidden page draws no frames. */
function nextFrame(): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, 250);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
