/** The kernel's orders about the cells of its notebooks: inserted or marked once, acknowledged as often as asked. */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { isPending, setRunState } from '../notebook/cellstates';
import { discardRuns } from '../notebook/discarding';
import { newCodeCell } from '../notebook/edits';
import { insertCells } from '../notebook/insertion';
import { findNotebook, localPath, panelsOfKernel, requireWritable, sharedNotebook } from '../notebook/panels';
import { insertBelowActive, runCell } from '../prompts/askcell';
import type {
  IAskedMessage,
  IAskMessage,
  IInsertedMessage,
  IInsertMessage,
  IMarkedMessage,
  IMarkMessage
} from '../protocol/messages';

export type Order = IInsertMessage | IMarkMessage | IAskMessage;
export type Ack = IInsertedMessage | IMarkedMessage | IAskedMessage;

export interface IInsertion {
  panel: NotebookPanel;
  cellIds: string[];
  /** The cell that asked. */
  anchor: string | null;
}

/** A notebook in which cells of these runs came, went or were marked, by the kernel's order. */
export interface ICellsChange {
  panel: NotebookPanel;
  runIds: string[];
}

/** Of one kernel. */
export class KernelCommands {
  constructor(
    private readonly _tracker: INotebookTracker,
    private readonly _kernelId: string
  ) {}

  /** Cells were inserted. */
  get inserted(): ISignal<this, IInsertion> {
    return this._inserted;
  }

  get cellsChanged(): ISignal<this, ICellsChange> {
    return this._cellsChanged;
  }

  /** The cell of the question with this id has run, or was given up. */
  get askEnded(): ISignal<this, string> {
    return this._askEnded;
  }

  dispose(): void {
    Signal.clearData(this);
  }

  /** Orders are sent again until they are acknowledged: what was done once is answered, not done, again. */
  execute(order: Order): Ack {
    const ack = this._done.get(order.id) ?? this._execute(order);
    if (ack.ok) {
      this._done.set(order.id, ack);
    }
    return ack;
  }

  private _execute(order: Order): Ack {
    switch (order.type) {
      case 'insert':
        return this._insert(order);
      case 'mark':
        return this._mark(order);
      case 'ask':
        return this._ask(order);
    }
  }

  private _ask(order: IAskMessage): Ack {
    const ack = { type: 'asked' as const, id: order.id };
    try {
      const panels = panelsOfKernel(this._tracker, this._kernelId);
      const panel =
        panels.find(one => localPath(one) === order.notebook) ??
        findNotebook(this._tracker, this._kernelId, [order.cell_id]);
      requireLoaded(panel);
      requireWritable(panel);
      if (!sharedNotebook(panel)!.cells.some(cell => cell.id === order.cell_id)) {
        insertBelowActive(panel, { ...newCodeCell(order.source), id: order.cell_id });
        if (order.runs) {
          const ended = (): void => this._askEnded.emit(order.id);
          runCell(panel, order.cell_id).then(ended, ended);
        }
      }
      return { ...ack, ok: true, cell_ids: [order.cell_id], problem: '' };
    } catch (error) {
      return { ...ack, ok: false, cell_ids: [], problem: (error as Error).message };
    }
  }

  private _insert(order: IInsertMessage): Ack {
    const ack = { type: 'inserted' as const, id: order.id };
    try {
      const wanted = order.cells.map(cell => String(cell.id));
      const panel = findNotebook(this._tracker, this._kernelId, [...wanted, order.anchor ?? '']);
      const cellIds = insertCells(sharedNotebook(panel)!, order);
      this._cellsChanged.emit({ panel, runIds: [order.run_id, ...order.replace] });
      this._inserted.emit({ panel, cellIds, anchor: order.anchor });
      return { ...ack, ok: true, cell_ids: cellIds, problem: '' };
    } catch (error) {
      return { ...ack, ok: false, cell_ids: [], problem: (error as Error).message };
    }
  }

  private _mark(order: IMarkMessage): Ack {
    const ack = { type: 'marked' as const, id: order.id };
    const panels = panelsOfKernel(this._tracker, this._kernelId);
    if (panels.length === 0) {
      const problem = 'no notebook of this kernel is open in this page';
      return { ...ack, ok: false, cell_ids: [], problem };
    }
    try {
      // Nothing is marked unless all can be: what is not acknowledged is sent again.
      panels.forEach(requireLoaded);
      panels.filter(panel => holdsRun(panel, order.run_id)).forEach(panel => requireWritable(panel));
    } catch (error) {
      return { ...ack, ok: false, cell_ids: [], problem: (error as Error).message };
    }
    const cellIds = panels.flatMap(panel => {
      const notebook = sharedNotebook(panel);
      if (!notebook) {
        return [];
      }
      const cellIds =
        order.state === 'discarded'
          ? discardRuns(notebook, [order.run_id])
          : setRunState(notebook, order.run_id, order.state);
      this._cellsChanged.emit({ panel, runIds: [order.run_id] });
      return cellIds;
    });
    return { ...ack, ok: true, cell_ids: cellIds, problem: '' };
  }

  private _done = new Map<string, Ack>();
  private _inserted = new Signal<this, IInsertion>(this);
  private _askEnded = new Signal<this, string>(this);
  private _cellsChanged = new Signal<this, ICellsChange>(this);
}

function requireLoaded(panel: NotebookPanel): void {
  if (!panel.context.isReady) {
    throw new Error(`the notebook ${panel.context.path} is still loading`);
  }
}

function holdsRun(panel: NotebookPanel, runId: string): boolean {
  return sharedNotebook(panel)?.cells.some(cell => isPending(cell, runId)) ?? false;
}
