/** Which application this page belongs to. Notebook 7 names the kind of each of its pages, JupyterLab none. */
import { PageConfig } from '@jupyterlab/coreutils';

export function isNotebook7(): boolean {
  return PageConfig.getOption('notebookPage') !== '';
}

/** Notebook 7 starts extensions on its pages of files, consoles and terminals as well. */
export function showsNotebooks(): boolean {
  return !isNotebook7() || PageConfig.getOption('notebookPage') === 'notebooks';
}
