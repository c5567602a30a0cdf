/** A decision waits and the panel is out of sight: say so. */
import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { KernelConnection } from './connection';
import type { KernelConnections } from './connections';
import type { AgentPanel } from './panel';

export interface IAttentionSettings {
  openOnDecision: boolean;
  openOnFirstRun: boolean;
}

export class Attention {
  constructor(
    connections: KernelConnections,
    private readonly _panel: AgentPanel,
    private readonly _trans: TranslationBundle,
    private readonly _open: () => void
  ) {
    connections.added.connect((_, connection) => this._watch(connection));
    _panel.disposed.connect(() => this._notices.forEach(id => Notification.dismiss(id)));
  }

  settings: IAttentionSettings = { openOnDecision: true, openOnFirstRun: true };

  private _watch(connection: KernelConnection): void {
    const { model } = connection;
    model.proposed.connect((_, proposal) => this._ask(proposal.id));
    model.changed.connect((_, state) => {
      this._waiting.set(
        connection,
        state.proposals.map(p => p.id)
      );
      this._settle();
    });
    model.runStarted.connect(() => {
      if (this.settings.openOnFirstRun && !this._ranOnce) {
        this._open();
      }
      this._ranOnce = true;
    });
    connection.kernel.disposed.connect(() => {
      this._waiting.delete(connection);
      this._settle();
    });
  }

  private _ask(proposalId: string): void {
    if (this._panel.isVisible) {
      return;
    }
    if (this.settings.openOnDecision) {
      this._open();
      return;
    }
    const id = Notification.warning(this._trans.__('The code agent waits for your decision.'), {
      autoClose: false,
      actions: [{ label: this._trans.__('Open'), callback: this._open, displayType: 'accent' }]
    });
    this._notices.set(proposalId, id);
  }

  /** Take away the notices of what has been decided. */
  private _settle(): void {
    const waiting = new Set([...this._waiting.values()].flat());
    this._panel.waiting = waiting.size > 0;
    for (const [proposalId, id] of this._notices) {
      if (!waiting.has(proposalId)) {
        Notification.dismiss(id);
        this._notices.delete(proposalId);
      }
    }
  }

  private _ranOnce = false;
  private _waiting = new Map<KernelConnection, string[]>();
  private _notices = new Map<string, string>();
}
