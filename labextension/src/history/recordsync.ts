/**
 * Notebook and record agree about what was decided over cells.
 *
 * What changes in a notebook of this page is reported, by whatever way this page changed it; what others do in a shared
 * notebook is for them to report. What was decided in another page, or was not saved before the page was loaded again, is
 * written into the notebook.
 */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { KernelConnection } from '../comm/connection';
import { setRunState } from '../notebook/cellstates';
import { discardRuns } from '../notebook/discarding';
import { isWritable, localPath, panelsOfKernel, sharedNotebook } from '../notebook/panels';
import { provenance } from '../notebook/provenance';
import type { ISharedNotebook } from '../notebook/sharednotebook';
import type { CellState, IDecidedMessage } from '../protocol/messages';
import type { IRunLine } from './client';
import { HistoryError } from './client';
import type { IDecisionReporterOptions } from './decisionreporter';
import { DecisionReporter } from './decisionreporter';
import type { ISnapshot, RunStates } from './runstates';
import { decisionsBetween, isKept, isReloaded, isEqual, runStates, snapshotOf } from './runstates';

export interface IRecordSyncOptions extends IDecisionReporterOptions {
  tracker: INotebookTracker;
}

export class RecordSync {
  constructor(private readonly _options: IRecordSyncOptions) {
    const { connections, tracker } = _options;
    this._reporter = new DecisionReporter(_options);
    this._reporter.recorded.connect(() => this._changed.emit());
    connections.added.connect((_, connection) => this._listen(connection));
    const watch = (panel: NotebookPanel): void => {
      const look = (): void => this.reportChanges(panel);
      panel.context.ready.then(look, look);
    };
    tracker.forEach(watch);
    tracker.widgetAdded.connect((_, panel) => watch(panel));
  }

  /** Something was decided, or found out about what was. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Grows with what is written into the history. */
  get version(): number {
    return this._reporter.version;
  }

  /** What a notebook of this page holds, as last looked at; none while it is loading. */
  statesOf(panel: NotebookPanel): RunStates | null {
    const notebook = sharedNotebook(panel);
    return (notebook && this._snapshots.get(notebook)?.states) ?? null;
  }

  /** Whether cells of the run have ever been in a notebook of this page. */
  hasContained(runId: string): boolean {
    return this._contained.has(runId);
  }

  /** Whether the history had this run of a notebook of this page, when it was asked. */
  isRecorded(runId: string): boolean {
    return this._recorded.has(runId);
  }

  /** Results of earlier kernels that belonged into the notebook when it was read, and nobody has decided over since. */
  earlierPending(panel: NotebookPanel): readonly IRunLine[] {
    const notebook = sharedNotebook(panel);
    const lines = (notebook && this._earlierPending.get(notebook)) ?? [];
    return lines.filter(line => (this._reporter.lastReported(line.id) ?? 'pending') === 'pending');
  }

  /** Look at a notebook, and report what was decided in it since the last look. */
  reportChanges(panel: NotebookPanel): void {
    const notebook = sharedNotebook(panel);
    if (!notebook || panel.isDisposed || !panel.context.isReady) {
      return;
    }
    const before = this._snapshots.get(notebook);
    if (!before) {
      this._observe(panel, notebook);
    }
    const after = this._takeSnapshot(notebook);
    if (!before || isReloaded(before, after)) {
      void this._reconcileWithHistory(panel, notebook);
      return;
    }
    for (const [runId, state] of decisionsBetween(before.states, after.states)) {
      const isMoved = state === 'discarded' && this._isInAnotherNotebook(runId);
      if (state !== this._reporter.lastKnown(panel, runId) && !isMoved) {
        this.report(panel, runId, state);
      }
    }
    if (!isEqual(before.states, after.states)) {
      this._changed.emit();
    }
  }

  /** Nobody decides for another: what others change in a shared notebook is seen, and not reported. */
  private _observe(panel: NotebookPanel, notebook: ISharedNotebook): void {
    notebook.ydoc.on('beforeTransaction', ({ local }) => {
      if (!local) {
        this.reportChanges(panel); // what was done here until now
      }
    });
    notebook.ydoc.on('afterTransaction', ({ local }) => {
      if (!local && !panel.isDisposed && panel.context.isReady) {
        this._onRemoteChange(panel, notebook);
      }
    });
  }

  private _onRemoteChange(panel: NotebookPanel, notebook: ISharedNotebook): void {
    const before = this._snapshots.get(notebook)!;
    const after = this._takeSnapshot(notebook);
    if (isReloaded(before, after)) {
      void this._reconcileWithHistory(panel, notebook);
    } else if (!isEqual(before.states, after.states)) {
      this._changed.emit();
    }
  }

  /** What the notebook holds of these runs is on record, or will be: it is not reported. */
  markReported(panel: NotebookPanel, runIds: readonly string[]): void {
    const notebook = sharedNotebook(panel);
    const seen = notebook && this._snapshots.get(notebook);
    if (seen) {
      const states = new Map(seen.states);
      const now = runStates(notebook);
      for (const runId of runIds) {
        states.delete(runId);
        const state = now.get(runId);
        if (state) {
          states.set(runId, state);
          this._contained.add(runId);
        }
      }
      this._snapshots.set(notebook, { ...seen, states });
      this._changed.emit();
    }
  }

  /** Cells of the history are in the notebook again: if they wait, that is reported, whatever the record has. */
  reportReinserted(panel: NotebookPanel, cellIds: readonly string[]): void {
    const notebook = sharedNotebook(panel);
    const cells = notebook?.cells.filter(cell => cellIds.includes(cell.id)) ?? [];
    const runIds = new Set(cells.flatMap(cell => provenance(cell)?.run_id ?? []));
    this.markReported(panel, [...runIds]);
    for (const runId of runIds) {
      if (runStates(notebook!).get(runId) === 'pending') {
        this.report(panel, runId, 'pending');
      }
    }
  }

  report(panel: NotebookPanel, runId: string, state: CellState): void {
    this._reporter.report(panel, runId, state);
  }

  notifyUnrecorded(runId: string, what: CellState | 'applied', why: string): void {
    this._reporter.notifyUnrecorded(runId, what, why);
  }

  private _listen(connection: KernelConnection): void {
    const panels = (): NotebookPanel[] => panelsOfKernel(this._options.tracker, connection.kernel.id);
    connection.unrecorded.connect((_, { run_id, what, text }) => this.notifyUnrecorded(run_id, what, text));
    connection.cellsChanged.connect((_, { panel, runIds }) => this.markReported(panel, runIds));
    connection.decided.connect((_, message) => this._onDecided(connection, message));
    let link = connection.model.state.link;
    connection.model.changed.connect((_, state) => {
      const before = link;
      link = state.link;
      if (link === 'ready' && before !== 'ready') {
        const states = Object.fromEntries(state.runs.map(run => [run.id, run.cell_state]));
        panels().forEach(panel => this._reconcile(panel, states, false));
      } else if (link === 'absent' && before === 'ready') {
        panels().forEach(panel => this._reconcileAgain(panel)); // what that kernel knew is in the history
      }
    });
    connection.kernel.disposed.connect(() => {
      this._options.tracker.forEach(panel => this._reconcileAgain(panel));
    });
  }

  private _onDecided(connection: KernelConnection, message: IDecidedMessage): void {
    const { run_id: runId, state, session } = message;
    this._reporter.onDecided(runId, state);
    if (session !== connection.kernel.clientId) {
      for (const panel of panelsOfKernel(this._options.tracker, connection.kernel.id)) {
        // A shared document brings a discard by itself, and may have brought its undo by now.
        if (isKept(state) || (state === 'discarded' && panel.content.model?.collaborative !== true)) {
          this._setState(panel, runId, state);
        }
      }
    }
    this._reporter.countRecorded();
  }

  /** The notebook has just been read: what does the record say? */
  private async _reconcileWithHistory(panel: NotebookPanel, notebook: ISharedNotebook): Promise<void> {
    const saved = Date.parse(panel.context.contentsModel?.last_modified ?? '');
    try {
      const { states, missing, known } = await this._options.history.notebook({
        notebook: localPath(panel),
        saved_at: Number.isNaN(saved) ? Date.now() / 1000 : saved / 1000,
        cell_ids: notebook.cells.map(cell => cell.id),
        run_ids: [...runStates(notebook).keys()]
      });
      if (!panel.isDisposed) {
        this._earlierPending.set(notebook, missing);
        [...known, ...missing.map(line => line.id)].forEach(runId => this._recorded.add(runId));
        this._reconcile(panel, states, true);
        this._changed.emit();
      }
    } catch (error) {
      if (!(error instanceof HistoryError)) {
        throw error;
      }
      // The History tab displays the reason; the kernel reports its own runs.
    }
  }

  private _reconcileAgain(panel: NotebookPanel): void {
    const notebook = sharedNotebook(panel);
    if (notebook && !panel.isDisposed && panel.context.isReady) {
      void this._reconcileWithHistory(panel, notebook);
    }
  }

  /** A decision counts, wherever it was made; what was discarded and is in a file again waits again. */
  private _reconcile(panel: NotebookPanel, recorded: Record<string, CellState>, isReadNow: boolean): void {
    const notebook = sharedNotebook(panel);
    if (!notebook || !panel.context.isReady) {
      return;
    }
    const isShared = panel.content.model?.collaborative === true; // anybody may have written what it holds
    for (const [runId, state] of runStates(notebook)) {
      const known = recorded[runId];
      if (state === 'pending' && isKept(known)) {
        this._setState(panel, runId, known);
      } else if (!isShared && isKept(state) && known === 'pending') {
        this.report(panel, runId, state);
      } else if (!isShared && isReadNow && state === 'pending' && known === 'discarded') {
        this.report(panel, runId, state);
      }
    }
  }

  /** Into the cells that are still pending. Nobody has changed anything here: the notebook does not want to be saved. */
  private _setState(panel: NotebookPanel, runId: string, state: CellState): void {
    const notebook = sharedNotebook(panel);
    if (!notebook || !panel.context.isReady || !isWritable(panel)) {
      return;
    }
    const { dirty } = notebook;
    const changed =
      state === 'discarded' ? discardRuns(notebook, [runId]) : setRunState(notebook, runId, state);
    if (changed.length > 0) {
      notebook.dirty = dirty;
      this.markReported(panel, [runId]);
    }
  }

  private _takeSnapshot(notebook: ISharedNotebook): ISnapshot {
    const snapshot = snapshotOf(notebook);
    this._snapshots.set(notebook, snapshot);
    [...snapshot.states.keys()].forEach(runId => this._contained.add(runId));
    return snapshot;
  }

  /** Whether another notebook of this page has cells of the run. */
  private _isInAnotherNotebook(runId: string): boolean {
    return (
      this._options.tracker.find(panel => {
        const notebook = sharedNotebook(panel);
        return notebook !== null && runStates(notebook).has(runId);
      }) !== undefined
    );
  }

  private readonly _reporter: DecisionReporter;
  private _snapshots = new WeakMap<ISharedNotebook, ISnapshot>();
  private _earlierPending = new WeakMap<ISharedNotebook, readonly IRunLine[]>();
  private _contained = new Set<string>();
  private _recorded = new Set<string>();
  private _changed = new Signal<this, void>(this);
}
