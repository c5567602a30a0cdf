/** The quiet mark on a cell that the agent has written and the user has kept: it leads to the run. */
import type { Cell } from '@jupyterlab/cells';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { PanelLayout } from '@lumino/widgets';
import { Widget } from '@lumino/widgets';

import { attempt } from '../common/attempt';
import { agentIcon } from '../common/icons';
import { cellState } from '../notebook/cellstates';
import { provenance } from '../notebook/provenance';
import type { ISharedCell } from '../notebook/sharednotebook';

/** The context menu and the commands of the cell go by it. */
export const KEPT_CLASS = 'jp-CodeAgent-kept';

export interface IOriginOptions {
  trans: TranslationBundle;
  showRun: (runId: string) => void;
}

/** Of one notebook. */
export class OriginBadge {
  constructor(private readonly _options: IOriginOptions) {}

  update(cell: Cell): void {
    const runId = acceptedRunId(cell.model.sharedModel as unknown as ISharedCell);
    if (runId === (this._runs.get(cell) ?? '')) {
      return;
    }
    this._runs.set(cell, runId);
    cell.toggleClass(KEPT_CLASS, runId !== '');
    // A cell out of sight has no content yet.
    const { trans } = this._options;
    void attempt(trans, trans.__('Show the buttons of a cell'), () =>
      cell.ready.then(() => this._draw(cell, runId))
    );
  }

  private _draw(cell: Cell, runId: string): void {
    if (cell.isDisposed || this._runs.get(cell) !== runId) {
      return; // it changed before it was drawn
    }
    this._badges.get(cell)?.dispose();
    this._badges.delete(cell);
    if (runId) {
      const mark = new Widget({ node: this._button(runId) });
      this._badges.set(cell, mark);
      (cell.layout as PanelLayout).insertWidget(0, mark);
    }
  }

  private _button(runId: string): HTMLButtonElement {
    const { trans, showRun } = this._options;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'jp-CodeAgent-origin';
    button.title = trans.__('Written by the code agent; show its run');
    button.setAttribute('aria-label', button.title);
    // The notebook's single-key shortcuts must not act while it has the focus.
    button.dataset.lmSuppressShortcuts = 'true';
    button.append(agentIcon.element({ tag: 'span' }));
    button.addEventListener('click', event => {
      event.stopPropagation();
      showRun(runId);
    });
    return button;
  }

  private _runs = new WeakMap<Cell, string>();
  private _badges = new WeakMap<Cell, Widget>();
}

/** The run of a cell that was accepted, as it was or edited; empty for any other. */
export function acceptedRunId(cell: ISharedCell): string {
  const state = cellState(cell);
  return state === 'accepted' || state === 'edited' ? provenance(cell)!.run_id : '';
}
