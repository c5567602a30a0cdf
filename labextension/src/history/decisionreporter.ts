/** Send decisions of this page to the record: by the kernel, or straight to the history where no kernel is linked. */
import { Notification } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { KernelConnections } from '../comm/connections';
import { cellStateLabel } from '../common/labels';
import type { CellState } from '../protocol/messages';
import type { HistoryClient } from './client';
import { HistoryError } from './client';

export interface IDecisionReporterOptions {
  connections: KernelConnections;
  history: HistoryClient;
  trans: TranslationBundle;
}

export class DecisionReporter {
  constructor(private readonly _options: IDecisionReporterOptions) {}

  /** Emitted when a decision is in the history. */
  get recorded(): ISignal<this, void> {
    return this._recorded;
  }

  /** Grows with what is written into the history. */
  get version(): number {
    return this._version;
  }

  /** To the kernel; without a link to it, to the history itself. */
  report(panel: NotebookPanel, runId: string, state: CellState): void {
    const { connections, history } = this._options;
    this._lastReported.set(runId, state);
    if (connections.of(panel)?.send({ type: 'cell_state', run_id: runId, state })) {
      return;
    }
    history.setState(runId, state).then(
      () => this.countRecorded(),
      (error: Error) => {
        // Cells of somebody else's notebook: this history has no line for them.
        if (!(error instanceof HistoryError && error.status === 404)) {
          this.notifyUnrecorded(runId, state, error.message);
        }
      }
    );
  }

  /** The notebook has it, and the code has run: only the record lacks it, so whoever decided has to know. */
  notifyUnrecorded(runId: string, what: CellState | 'applied', why: string): void {
    const { trans } = this._options;
    const done = cellStateLabel(trans, what);
    Notification.error(trans.__('Not recorded in the history: “%1”, run %2. %3', done, runId, why), {
      autoClose: false
    });
  }

  /** On record, as far as this page knows. Cells from another page or file are pending as they were there. */
  lastKnown(panel: NotebookPanel, runId: string): CellState {
    const runs = this._options.connections.of(panel)?.model.state.runs ?? [];
    return runs.find(run => run.id === runId)?.cell_state ?? this._lastReported.get(runId) ?? 'pending';
  }

  /** The state that this page reported or received last; none if there was no decision yet. */
  lastReported(runId: string): CellState | undefined {
    return this._lastReported.get(runId);
  }

  /** A decision of any page is in the record. */
  onDecided(runId: string, state: CellState): void {
    this._lastReported.set(runId, state);
  }

  /** The record has changed. */
  countRecorded(): void {
    this._version++;
    this._recorded.emit();
  }

  private _lastReported = new Map<string, CellState>();
  private _version = 0;
  private _recorded = new Signal<this, void>(this);
}
