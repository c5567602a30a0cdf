/** A result comes into view where its question was asked, unless the user has turned to something else meanwhile. */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';

import type { KernelConnections } from '../comm/connections';
import type { IInsertion } from '../comm/kernelcommands';
import { isAgentCell } from '../prompts/magicline';
import { findCell } from './celldecisions';
import { scrollCellsIntoView } from './scrolling';

/** By which a person scrolls, types or goes to another cell. */
const HANDLED_BY = ['wheel', 'touchmove', 'keydown', 'pointerdown'];
/** So long the result grows while pictures and sentences are drawn, and so does the run's receipt above it. */
const GROWS_MS = 10_000;

export interface IRevealOptions {
  tracker: INotebookTracker;
  connections: KernelConnections;
}

export class ResultReveal {
  constructor(private readonly _options: IRevealOptions) {
    const { tracker, connections } = _options;
    const watch = (panel: NotebookPanel): void => {
      const handled = (): void => void this._handled.set(panel, ++this._clock);
      HANDLED_BY.forEach(type =>
        panel.content.node.addEventListener(type, handled, { capture: true, passive: true })
      );
    };
    tracker.forEach(watch);
    tracker.widgetAdded.connect((_, panel) => watch(panel));
    NotebookActions.executionScheduled.connect((_, { notebook, cell }) => {
      const panel = tracker.find(one => one.content === notebook);
      if (panel && isAgentCell(cell.model.sharedModel.getSource())) {
        this._asked.set(panel, { cellId: cell.model.id, at: ++this._clock });
      }
    });
    connections.added.connect((_, connection) => {
      connection.inserted.connect((_, inserted) => this._onInserted(inserted));
    });
  }

  private _onInserted({ panel, cellIds, anchor }: IInsertion): void {
    const asked = this._asked.get(panel);
    // Of several questions that were started at once, the last is the one whose result is looked at.
    const isWanted = (): boolean =>
      !panel.isDisposed &&
      panel.isVisible &&
      panel === this._options.tracker.currentWidget &&
      anchor !== null &&
      asked?.cellId === anchor &&
      asked === this._asked.get(panel) &&
      (this._handled.get(panel) ?? 0) < asked.at;
    if (isWanted()) {
      reveal(panel, cellIds, anchor!, isWanted);
    }
  }

  /** Counts what happens, so that it is known what came first. */
  private _clock = 0;
  private _handled = new WeakMap<NotebookPanel, number>();
  /** The last question that was run in a notebook. */
  private _asked = new WeakMap<NotebookPanel, { cellId: string; at: number }>();
}

function reveal(
  panel: NotebookPanel,
  cellIds: readonly string[],
  questionId: string,
  isWanted: () => boolean
): void {
  const [question, ...cells] = [questionId, ...cellIds].map(cellId => findCell(panel, cellId));
  const bring = (): void => {
    if (isWanted()) {
      void scrollCellsIntoView(
        panel.content,
        cells.flatMap(cell => cell ?? [])
      );
    }
  };
  const grown = new ResizeObserver(bring);
  [question, ...cells].forEach(cell => cell && grown.observe(cell.node));
  window.setTimeout(() => grown.disconnect(), GROWS_MS);
  bring();
}
