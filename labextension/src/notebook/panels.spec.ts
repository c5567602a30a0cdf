import type { NotebookPanel } from '@jupyterlab/notebook';

import type { Notebook } from '../testing/notebooks';
import { notebookOf, panelOf, trackerOf } from '../testing/notebooks';
import { findNotebook, panelsOfKernel, requireWritable } from './panels';

let notebook: Notebook;
beforeEach(() => {
  notebook = notebookOf('%%agent\none', 'x = 1', '%%agent\ntwo');
});

describe('the right notebook', () => {
  const other = (): NotebookPanel => panelOf(notebookOf('y'), 'k');

  it('is the one with the cell, not the one in front', () => {
    const right = panelOf(notebookOf('a', 'b', 'c'), 'k');
    expect(findNotebook(trackerOf(other(), right), 'k', ['cell-2'])).toBe(right);
  });

  it('is the only one of the kernel when the cell is gone', () => {
    const only = other();
    expect(findNotebook(trackerOf(only, panelOf(notebook, 'another')), 'k', ['deleted'])).toBe(only);
  });

  it('is never guessed among several', () => {
    expect(() => findNotebook(trackerOf(other(), other()), 'k', ['deleted'])).toThrow(/^2 notebooks share/);
  });

  it('is none when the kernel has none open here', () => {
    expect(() => findNotebook(trackerOf(panelOf(notebook, 'another')), 'k', ['cell-0'])).toThrow(
      /no notebook/
    );
    expect(() => findNotebook(trackerOf(panelOf(null, 'k')), 'k', ['cell-0'])).toThrow(/no notebook/);
  });

  it('is one for two views of the same document', () => {
    const [first, view] = [other(), other()];
    Object.assign(view, { context: first.context });
    expect(panelsOfKernel(trackerOf(first, view), 'k')).toEqual([first]);
  });

  it('is not written to when it is read-only', () => {
    const panel = other();
    expect(() => requireWritable(panel)).not.toThrow();
    Object.assign(panel.context.contentsModel!, { writable: false });
    expect(() => findNotebook(trackerOf(panel), 'k', ['cell-0'])).toThrow('eda.ipynb is read-only');
  });
});
