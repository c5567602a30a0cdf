/** What becomes of runs, by their cells in the notebooks of this page and by the record. */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { ISignal } from '@lumino/signaling';

import type { KernelConnections } from '../comm/connections';
import { localPath } from '../notebook/panels';
import type { CellState } from '../protocol/messages';
import type { IRun } from '../protocol/run';
import type { IRunLine } from './client';
import type { RecordSync } from './recordsync';

/** `missing`: nobody has decided over the cells, and they are not in the notebook. */
export type DisplayState = CellState | 'missing';

/** A result that belongs into a notebook and is not there. */
export interface IMissingResult {
  id: string;
  prompt: string;
  cellId: string | null;
}

export interface IRunCellStatesOptions {
  connections: KernelConnections;
  tracker: INotebookTracker;
  sync: RecordSync;
}

export class RunCellStates {
  constructor(private readonly _options: IRunCellStatesOptions) {
    _options.connections.added.connect((_, { model }) => {
      model.runStarted.connect((_, run) => this._live.add(run.id));
      model.runEnded.connect((_, run) => this._live.add(run.id));
    });
  }

  get changed(): ISignal<RecordSync, void> {
    return this._options.sync.changed;
  }

  get version(): number {
    return this._options.sync.version;
  }

  /** What to show as the state of a run's cells; null where it has none. */
  stateOf(run: IRun | IRunLine): DisplayState | null {
    if (run.status !== 'ok') {
      return null;
    }
    const here = this._stateHere(run);
    if (here || run.cell_state !== 'pending') {
      return here ?? run.cell_state;
    }
    if ('placed' in run && ['inserting', 'output', 'nowhere'].includes(run.placed ?? '')) {
      return null;
    }
    return this._belongsHere(run) ? 'missing' : 'pending';
  }

  /** Whether its cells could be inserted again: they were put into a notebook of this page, and are not there. */
  canReinsert(run: IRun): boolean {
    const wasPlaced = ['cells', 'kept', 'undelivered'].includes(run.placed ?? '');
    return run.status === 'ok' && wasPlaced && !this._stateHere(run) && this._belongsHere(run);
  }

  /** Whether the history has a run that no kernel of this page knows. */
  isRecorded(runId: string): boolean {
    return this._options.sync.isRecorded(runId);
  }

  /** Undecided results that are not in the notebook, the oldest first. */
  missing(panel: NotebookPanel): IMissingResult[] {
    if (!this._options.sync.statesOf(panel)) {
      return []; // it is still loading
    }
    const known = this._options.connections.of(panel)?.model.state.runs ?? [];
    const ofKernel = known.filter(run => run.cell_state === 'pending' && this._isLost(run));
    const before = this._options.sync
      .earlierPending(panel)
      .filter(line => !known.some(run => run.id === line.id) && !this._stateHere(line));
    return [
      ...[...before].reverse().map(line => ({ id: line.id, prompt: line.prompt, cellId: line.cell_id })),
      ...ofKernel.map(run => ({ id: run.id, prompt: run.request.prompt, cellId: run.request.cell_id }))
    ];
  }

  private _isLost(run: IRun): boolean {
    // What came while this page looked on and went into another page is there.
    const isElsewhere =
      run.placed === 'cells' && this._live.has(run.id) && !this._options.sync.hasContained(run.id);
    return !isElsewhere && this.canReinsert(run);
  }

  private _stateHere(run: IRun | IRunLine): CellState | undefined {
    const ids = [run.id];
    if ('placed' in run && run.placed === 'kept' && run.replayed_from) {
      ids.push(run.replayed_from);
    }
    return this._panels()
      .flatMap(panel => ids.map(id => this._options.sync.statesOf(panel)?.get(id)))
      .find(state => state !== undefined);
  }

  /** Whether a notebook into which they belong is open in this page. */
  private _belongsHere(run: IRun | IRunLine): boolean {
    const { connections, sync } = this._options;
    const path = 'request' in run ? run.request.notebook : run.notebook;
    return this._panels()
      .filter(panel => sync.statesOf(panel))
      .some(panel => {
        const ofKernel = connections.of(panel)?.model.state.runs ?? [];
        return ofKernel.some(known => known.id === run.id) || localPath(panel) === path;
      });
  }

  private _panels(): NotebookPanel[] {
    const panels: NotebookPanel[] = [];
    this._options.tracker.forEach(panel => panels.push(panel));
    return panels;
  }

  /** Runs that went on while this page was there. */
  private _live = new Set<string>();
}
