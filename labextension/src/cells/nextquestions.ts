/** Below a result: questions that go on from it, each of which a click asks. */
import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { PanelLayout } from '@lumino/widgets';

import { attempt } from '../common/attempt';
import { ButtonBar } from './buttonbar';
import type { CellActions } from './cellactions';

export const NEXT_CLASS = 'jp-CodeAgent-nextQuestions';

export interface INextQuestionsOptions {
  panel: NotebookPanel;
  actions: CellActions;
  trans: TranslationBundle;
}

/** The lines of one notebook's results. */
export class NextQuestions {
  constructor(private readonly _options: INextQuestionsOptions) {}

  /** Give the cell the questions of its run; none where `runId` is empty. */
  update(cell: Cell, runId: string): void {
    const { panel, actions, trans } = this._options;
    const questions = runId && actions.showButtons ? actions.nextQuestions(panel, runId) : [];
    const look = questions.length > 0 ? JSON.stringify([runId, ...questions]) : '';
    if ((this._appearances.get(cell) ?? '') !== look) {
      this._appearances.set(cell, look);
      this._bars.get(cell)?.dispose();
      this._bars.delete(cell);
      if (look) {
        void attempt(trans, trans.__('Show the next questions of a result'), () =>
          cell.ready.then(() => this._draw(cell, look, runId, questions))
        );
      }
    }
  }

  private _draw(cell: Cell, look: string, runId: string, questions: readonly string[]): void {
    if (cell.isDisposed || this._appearances.get(cell) !== look) {
      return; // other questions came before the cell was drawn
    }
    this._bars.get(cell)?.dispose(); // the same questions twice, before the cell was drawn
    const { trans } = this._options;
    const buttons = questions.map(question => this._button(runId, question));
    const bar = new ButtonBar(trans.__('Next questions'), buttons, trans.__('Next:'));
    bar.addClass(NEXT_CLASS);
    this._bars.set(cell, bar);
    const layout = cell.layout as PanelLayout;
    const tools = layout.widgets.findIndex(widget => widget.hasClass('jp-CodeAgent-cellTools'));
    layout.insertWidget(tools < 0 ? layout.widgets.length : tools, bar);
  }

  private _button(runId: string, question: string): HTMLButtonElement {
    const { panel, actions, trans } = this._options;
    const node = document.createElement('button');
    node.type = 'button';
    node.className = 'jp-CodeAgent-nextQuestion';
    node.textContent = question;
    node.title = trans.__(
      'Ask this below; its code was already tested in the sandbox, so no model is needed'
    );
    node.addEventListener('click', event => {
      event.stopPropagation();
      void attempt(trans, trans.__('Ask the next question'), () => actions.askNext(panel, runId, question));
    });
    return node;
  }

  private readonly _appearances = new WeakMap<Cell, string>();
  private readonly _bars = new WeakMap<Cell, ButtonBar>();
}
