/** A decision waits, in whichever notebook: say so where it is seen. */
import { Notification } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { CellDecorations } from '../cells/celldecorations';
import { currentRun } from '../comm/agentstate';
import type { KernelConnection } from '../comm/connection';
import type { KernelConnections } from '../comm/connections';
import { pendingRuns } from '../notebook/cellstates';
import { panelsOfKernel, sharedNotebook } from '../notebook/panels';
import { isRunning } from '../protocol/run';
import type { IKernelActivity } from './activity';
import { countDecisions, notebookName, tabCaption } from './activity';
import { Announcer } from './announcer';

export interface INotificationSettings {
  openOnDecision: boolean;
  openOnFirstRun: boolean;
}

export interface INotificationsOptions {
  connections: KernelConnections;
  tracker: INotebookTracker;
  decorations: Pick<CellDecorations, 'changed'>;
  trans: TranslationBundle;
  /** Reveals the agent's panel; the keyboard stays where it is. */
  open: () => void;
  /** Reveals it because the user wants to go there. */
  show: () => void;
  isPanelVisible: () => boolean;
  activate: (panel: NotebookPanel) => void;
  /** Shows on the tab of the agent's panel how many decisions wait. */
  setBadge: (decisions: number, caption: string) => void;
}

export class Notifications {
  constructor(private readonly _options: INotificationsOptions) {
    const { connections, decorations, trans } = _options;
    this._announcer = new Announcer(trans);
    connections.added.connect((_, connection) => this._watch(connection));
    connections.changed.connect(() => this._refresh());
    decorations.changed.connect((_, panel) => {
      // Typing comes here too: only this notebook is looked through, and only news goes on.
      const notebook = sharedNotebook(panel);
      const toReview = notebook ? pendingRuns(notebook).length : 0;
      if (toReview !== this._toReview.get(panel.context)) {
        this._toReview.set(panel.context, toReview);
        this._refresh();
      }
    });
  }

  settings: INotificationSettings = { openOnDecision: true, openOnFirstRun: true };

  /** Of every kernel with an agent. */
  get activity(): readonly IKernelActivity[] {
    return this._activity;
  }

  /** Not emitted for the progress of runs: look again while one is under way. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Bring notebook and panel of a kernel into view. */
  reveal(kernelId: string): void {
    const [panel] = panelsOfKernel(this._options.tracker, kernelId);
    if (panel) {
      this._options.activate(panel);
    }
    this._options.show();
  }

  /** Facts as they are now, progress included. */
  currentActivity(): readonly IKernelActivity[] {
    return [...this._connections].map(connection => this._activityOf(connection));
  }

  private _activityOf({ kernel, model }: KernelConnection): IKernelActivity {
    const panels = panelsOfKernel(this._options.tracker, kernel.id);
    const run = currentRun(model.state);
    const running = run !== null && isRunning(run);
    const toReview = panels.reduce((sum, panel) => sum + (this._toReview.get(panel.context) ?? 0), 0);
    return {
      kernelId: kernel.id,
      notebook: panels[0]?.context.path.split('/').pop() ?? '',
      decisions: model.state.proposals.length,
      toReview,
      running,
      progress: running ? (model.state.progress[run.id] ?? null) : null
    };
  }

  private _watch(connection: KernelConnection): void {
    const { model, kernel } = connection;
    this._connections.add(connection);
    const name = (): string => notebookName(this._options.trans, this._activityOf(connection));
    model.changed.connect(() => this._refresh());
    model.proposed.connect((_, proposal) => {
      this._announcer.waits(name());
      this._notify(connection, proposal.id);
    });
    model.runStarted.connect(() => {
      this._announcer.started(name());
      if (this.settings.openOnFirstRun && !this._ranOnce) {
        this._options.open();
      }
      this._ranOnce = true;
    });
    model.runEnded.connect((_, run) => this._announcer.ended(run, name()));
    kernel.disposed.connect(() => {
      this._connections.delete(connection);
      this._refresh();
    });
  }

  /** In view is a decision of the current notebook, in the panel that is open. */
  private _notify(connection: KernelConnection, proposalId: string): void {
    const { connections, trans, open, isPanelVisible } = this._options;
    const isOtherKernel = connections.current !== connection;
    if (!isPanelVisible() && this.settings.openOnDecision) {
      open();
    }
    if (isPanelVisible() && !isOtherKernel) {
      return;
    }
    const id = Notification.warning(
      trans.__(
        'The code agent is waiting for your decision in %1.',
        notebookName(trans, this._activityOf(connection))
      ),
      {
        autoClose: false,
        actions: [
          {
            label: trans.__('Open'),
            callback: () => this.reveal(connection.kernel.id),
            displayType: 'accent'
          }
        ]
      }
    );
    this._notices.set(proposalId, id);
  }

  private _refresh(): void {
    this._activity = this.currentActivity();
    const decisions = countDecisions(this._activity);
    this._options.setBadge(decisions, tabCaption(this._options.trans, decisions));
    this._dismissDecided();
    this._changed.emit();
  }

  /** Take away the notices of what has been decided. */
  private _dismissDecided(): void {
    const waiting = new Set(
      [...this._connections].flatMap(({ model }) => model.state.proposals.map(proposal => proposal.id))
    );
    for (const [proposalId, id] of this._notices) {
      if (!waiting.has(proposalId)) {
        Notification.dismiss(id);
        this._notices.delete(proposalId);
      }
    }
  }

  private readonly _announcer: Announcer;
  private _connections = new Set<KernelConnection>();
  private _activity: readonly IKernelActivity[] = [];
  /** Runs with pending cells, by the context of their notebook. */
  private _toReview = new WeakMap<object, number>();
  private _ranOnce = false;
  private _notices = new Map<string, string>();
  private _changed = new Signal<this, void>(this);
}
