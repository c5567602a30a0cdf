/** What is remembered of the questions of each notebook, under the notebook's path. */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import type { PanelMemory } from '../panelmemory';

/** What is being typed. */
export function draftName(path: string): string {
  return `draft ${path}`;
}

/** What was asked last. */
export function askedName(path: string): string {
  return `asked ${path}`;
}

/** Texts go with their notebook to its new name, and replace what a file of that name has left. */
export function keepDraftsOfRenamed(tracker: INotebookTracker, memory: PanelMemory): void {
  const known = new WeakSet<object>();
  const watch = ({ context }: NotebookPanel): void => {
    if (known.has(context)) {
      return; // another view of the same notebook
    }
    known.add(context);
    let path = context.path;
    context.pathChanged.connect((_, renamed) => {
      for (const name of [draftName, askedName]) {
        memory.set(name(renamed), memory.get(name(path)));
        memory.set(name(path), '');
      }
      path = renamed;
    });
  };
  tracker.forEach(watch);
  tracker.widgetAdded.connect((_, panel) => watch(panel));
}
