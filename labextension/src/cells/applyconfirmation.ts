/** Before code runs in the user's kernel, each time: a confirmation of exactly this text, in exactly this kernel. */
import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { KernelConnections } from '../comm/connections';
import type { HistoryClient, HistoryError } from '../history/client';
import { provenance } from '../notebook/provenance';
import type { ISharedCell } from '../notebook/sharednotebook';
import { applyBody } from '../panel/approvals/applydialog';
import type { IRun } from '../protocol/run';

const ASKING_CLASS = 'jp-CodeAgent-applying';

export class ApplyConfirmation {
  constructor(
    private readonly _connections: KernelConnections,
    private readonly _history: HistoryClient,
    private readonly _trans: TranslationBundle
  ) {}

  /**
   * Whether the cell may run as it is now. What is typed, by anyone, while the dialog is open, or another kernel,
   * makes it another question.
   */
  async confirm(panel: NotebookPanel, cell: Cell): Promise<boolean> {
    for (let isChanged = false; ; isChanged = true) {
      const subject = subjectOf(panel, cell);
      const isYes = await this._ask(panel, cell, isChanged);
      if (!isYes || panel.isDisposed || cell.isDisposed) {
        return false;
      }
      if (subjectOf(panel, cell) === subject) {
        return true;
      }
    }
  }

  private async _ask(panel: NotebookPanel, cell: Cell, isChanged: boolean): Promise<boolean> {
    const trans = this._trans;
    const code = cell.model.sharedModel.getSource();
    const kernel = panel.sessionContext.kernelDisplayName;
    // The kernel may take its time to say what the code would do: the cell shows that the press was received.
    showWaiting(cell, true);
    const asked = this._connections.of(panel)?.findEffects(code, true) ?? Promise.resolve(null);
    const [effects, run, refusal] = await Promise.all([
      asked,
      this._recordOf(panel, cell),
      this._refusal()
    ]).finally(() => showWaiting(cell, false));
    if (refusal) {
      Notification.error(refusal);
      return false;
    }
    const answer = await showDialog({
      title: trans.__('Run this code in YOUR kernel?'),
      body: applyBody(trans, { kernel, code, effects, run, isChanged }),
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.warnButton({ label: trans.__('Run in my kernel') })
      ],
      defaultButton: 0,
      focusNodeSelector: '.jp-mod-reject'
    });
    return answer.button.accept;
  }

  /** Why the administrator allows it never; empty where the server cannot say: a kernel with the agent refuses itself. */
  private async _refusal(): Promise<string> {
    try {
      return await this._history.applyRefusal();
    } catch (error) {
      const { message, status } = error as HistoryError;
      if (status >= 500) {
        return message; // the rules are not known
      }
      console.warn('jupyter-codeagent: whether results may run in the kernel is not known:', message);
      return '';
    }
  }

  /** The run in which this very text ran in the sandbox; null: none is known. The notebook's own metadata proves nothing. */
  private async _recordOf(panel: NotebookPanel, cell: Cell): Promise<IRun | null> {
    const shared = cell.model.sharedModel as unknown as ISharedCell;
    const code = shared.getSource();
    const runId = provenance(shared)?.run_id ?? '';
    const known = this._connections.of(panel)?.model.state.runs.find(run => run.id === runId);
    if (known) {
      return known.code === code ? known : null;
    }
    try {
      const kept = await this._history.get(runId);
      return kept.code === code ? kept : null;
    } catch (error) {
      console.warn(
        'jupyter-codeagent: the run of this cell is not in the history:',
        (error as Error).message
      );
      return null;
    }
  }
}

function subjectOf(panel: NotebookPanel, cell: Cell): string {
  const kernel = panel.sessionContext.session?.kernel?.id ?? null;
  return JSON.stringify([kernel, cell.model.sharedModel.getSource()]);
}

function showWaiting(cell: Cell, isWaiting: boolean): void {
  cell.toggleClass(ASKING_CLASS, isWaiting);
  cell.node.setAttribute('aria-busy', String(isWaiting));
}
