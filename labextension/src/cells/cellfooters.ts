/** At the end of a cell: *Fix with agent* at an error, *Explain* and *Ask from here* at a result, *Refine* while it waits. */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Cell } from '@jupyterlab/cells';
import { CodeCell } from '@jupyterlab/cells';
import type { TranslationBundle } from '@jupyterlab/translation';
import { addBelowIcon, buildIcon, infoIcon } from '@jupyterlab/ui-components';
import type { PanelLayout } from '@lumino/widgets';

import { attempt } from '../common/attempt';
import type { IBlock } from '../notebook/blocks';
import { cellState } from '../notebook/cellstates';
import type { ISharedCell } from '../notebook/sharednotebook';
import { isCellId, isForAgent } from '../prompts/magicline';
import type { IBarButton } from './buttonbar';
import { ButtonBar } from './buttonbar';
import type { CellActions } from './cellactions';
import type { RefineBox } from './refinebox';

export const FAILED_CLASS = 'jp-CodeAgent-failed';
export const RESULT_CLASS = 'jp-CodeAgent-result';

export type CellKind = 'failed' | 'result' | '';

/** What the agent can do with a cell. */
export function kindOf(
  cell: Cell,
  block: IBlock | undefined,
  canAsk: boolean,
  canGoOn: (runId: string) => boolean
): CellKind {
  if (!canAsk) {
    return '';
  }
  const shared = cell.model.sharedModel as unknown as ISharedCell;
  if (cell instanceof CodeCell && cellState(shared) !== 'pending' && hasError(cell)) {
    return isForAgent(shared.getSource()) || !isCellId(shared.id) ? '' : 'failed';
  }
  const isLast = block && block.cellIds[block.cellIds.length - 1] === shared.id;
  return isLast && canGoOn(block.runId) ? 'result' : '';
}

function hasError(cell: CodeCell): boolean {
  const { outputs } = cell.model;
  for (let i = 0; i < outputs.length; i++) {
    if (outputs.get(i).type === 'error') {
      return true;
    }
  }
  return false;
}

export interface ICellFootersOptions {
  panel: NotebookPanel;
  actions: CellActions;
  trans: TranslationBundle;
  /** Buttons that decide about this cell alone. */
  decisionButtons: (cellId: string) => IBarButton[];
  refineBox: (runId: string) => RefineBox;
}

/** What is displayed at the end of a cell. */
export interface ICellFooter {
  kind: CellKind;
  /** Of a further pending cell of its run, which is decided about alone too. */
  isPart: boolean;
  /** Run of the pending cells that end here, if another version of it can be asked for; else empty. */
  refines: string;
}

/** The rows of buttons at the end of one notebook's cells. */
export class CellFooters {
  constructor(private readonly _options: ICellFootersOptions) {}

  /** Of which run the box at this cell asks for another version. */
  refinedAt(cell: Cell): string {
    return this._boxes.get(cell)?.runId ?? '';
  }

  /** Put the keyboard into that box; false if it is not drawn. */
  focusBox(cell: Cell): boolean {
    const box = this._boxes.get(cell)?.box;
    if (!box?.node.isConnected) {
      return false;
    }
    box.focus();
    return true;
  }

  /** Give the cell what belongs at its end, and the class that its context menu goes by. */
  update(cell: Cell, { kind, isPart, refines }: ICellFooter): void {
    cell.toggleClass(FAILED_CLASS, kind === 'failed');
    cell.toggleClass(RESULT_CLASS, kind === 'result');
    const displayed = this._options.actions.showButtons ? kind : '';
    const look = [refines && `refine ${refines}`, isPart && 'part', displayed].filter(Boolean).join(' ');
    this._keepBox(cell, refines);
    if ((this._appearances.get(cell) ?? '') !== look) {
      this._appearances.set(cell, look);
      // A cell out of sight has no content yet.
      const { trans } = this._options;
      void attempt(trans, trans.__('Show the buttons of a cell'), () =>
        cell.ready.then(() => this._draw(cell, look))
      );
    }
  }

  private _draw(cell: Cell, look: string): void {
    if (cell.isDisposed || this._appearances.get(cell) !== look) {
      return; // another look came before the cell was drawn
    }
    const box = this._boxes.get(cell)?.box;
    const typing = box?.hasFocus;
    this._bars.get(cell)?.dispose();
    this._bars.delete(cell);
    if (look) {
      const { trans } = this._options;
      const buttons = [...(box ? [box.node] : []), ...this._buttons(cell.model.id, look)];
      const label = look.includes('failed')
        ? trans.__('Ask the agent about this error')
        : trans.__('This cell of the code agent');
      const bar = new ButtonBar(label, buttons);
      bar.addClass('jp-CodeAgent-cellTools');
      bar.node.dataset.kind = look;
      this._bars.set(cell, bar);
      (cell.layout as PanelLayout).addWidget(bar);
      if (typing) {
        box!.focus(); // the box is the same, in another row
      }
    }
  }

  /** It lives as long as the result waits: what is typed there outlives the buttons beside it. */
  private _keepBox(cell: Cell, refines: string): void {
    const kept = this._boxes.get(cell);
    if ((kept?.runId ?? '') !== refines) {
      kept?.box.dispose();
      this._boxes.delete(cell);
      if (refines) {
        const box = this._options.refineBox(refines);
        this._boxes.set(cell, { runId: refines, box });
        cell.disposed.connect(() => box.dispose());
      }
    }
  }

  private _buttons(id: string, look: string): IBarButton[] {
    const { panel, actions, trans, decisionButtons } = this._options;
    const buttons = look.includes('part') ? decisionButtons(id) : [];
    if (look.includes('failed')) {
      buttons.push({
        text: trans.__('Fix with agent'),
        icon: buildIcon,
        title: trans.__('Ask the agent for a corrected cell; your own is not changed'),
        act: () => void attempt(trans, trans.__('Fix with agent'), () => actions.fix(panel, id))
      });
    }
    if (look.includes('result')) {
      buttons.push(
        {
          text: trans.__('Explain'),
          icon: infoIcon,
          title: trans.__('Ask the agent to explain this result'),
          act: () => void attempt(trans, trans.__('Explain'), () => actions.explain(panel, id))
        },
        {
          text: trans.__('Ask from here'),
          icon: addBelowIcon,
          title: trans.__('Ask a question that continues from this result, ignoring what came after it'),
          act: () => void attempt(trans, trans.__('Ask from here'), () => actions.askFrom(panel, id))
        }
      );
    }
    return buttons;
  }

  private _appearances = new WeakMap<Cell, string>();
  private _bars = new WeakMap<Cell, ButtonBar>();
  private _boxes = new WeakMap<Cell, { runId: string; box: RefineBox }>();
}
