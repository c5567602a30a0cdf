/** Notebook panels of this page: which belongs to a kernel, and whether it may be changed. */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { nullTranslator } from '@jupyterlab/translation';

import type { ISharedNotebook } from './sharednotebook';

const ENGLISH = nullTranslator.load('');

export function sharedNotebook(panel: NotebookPanel | null): ISharedNotebook | null {
  return (panel?.content.model?.sharedModel as ISharedNotebook | undefined) ?? null;
}

/** The open notebooks of a kernel, one panel per document: the views of a split notebook share their context. */
export function panelsOfKernel(tracker: INotebookTracker, kernelId: string): NotebookPanel[] {
  const found = new Map<unknown, NotebookPanel>();
  tracker.forEach(panel => {
    if (panel.sessionContext.session?.kernel?.id === kernelId && !found.has(panel.context)) {
      found.set(panel.context, panel);
    }
  });
  return [...found.values()];
}

/**
 * The notebook of a kernel that holds one of these cells; if none does, the kernel's only notebook.
 *
 * Throws an `Error` with the reason if there is none that may be written to.
 */
export function findNotebook(tracker: INotebookTracker, kernelId: string, cellIds: string[]): NotebookPanel {
  const panels = panelsOfKernel(tracker, kernelId).filter(panel => panel.content.model);
  const holds = (panel: NotebookPanel): boolean =>
    sharedNotebook(panel)?.cells.some(cell => cellIds.includes(cell.id)) ?? false;
  const panel = panels.find(holds) ?? (panels.length === 1 ? panels[0] : undefined);
  if (!panel) {
    throw new Error(
      panels.length === 0
        ? 'no notebook of this kernel is open in this page'
        : `${panels.length} notebooks share this kernel and none of them has the %%agent cell`
    );
  }
  requireWritable(panel);
  return panel;
}

export function isWritable(panel: NotebookPanel): boolean {
  return !panel.content.model?.readOnly && panel.context.contentsModel?.writable !== false;
}

/** Throw an error with the text of `whyReadOnly`. In English for the kernel, which gets the error too. */
export function requireWritable(panel: NotebookPanel, trans: TranslationBundle = ENGLISH): void {
  const why = whyReadOnly(panel, trans);
  if (why) {
    throw new Error(why);
  }
}

/** Empty if the notebook may be changed. */
export function whyReadOnly(panel: NotebookPanel, trans: TranslationBundle): string {
  return isWritable(panel) ? '' : trans.__('the notebook %1 is read-only', panel.context.path);
}

/** As the server knows it, without the drive of real-time collaboration in front; empty without a notebook. */
export function localPath(panel: NotebookPanel | null): string {
  return panel ? (panel.context.localPath ?? panel.context.path) : '';
}
