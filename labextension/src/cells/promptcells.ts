/** Cells with a `%%agent` prompt: they are edited as prose, not as code. */
import type { Cell } from '@jupyterlab/cells';
import { CodeCell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import { attempt } from '../common/attempt';
import { isAgentCell, isForAgent } from '../prompts/magicline';

const AGENT_CLASS = 'jp-CodeAgent-answers';
const PROMPT_CLASS = 'jp-CodeAgent-prompt';
const PROSE = 'text/plain';
const CLOSING = 'autoClosingBrackets';

export interface IPromptCellsOptions {
  panel: NotebookPanel;
  trans: TranslationBundle;
}

/** The mime type and the brackets of a notebook's prompts. */
export class PromptCells {
  constructor(private readonly _options: IPromptCellsOptions) {}

  /** Set up a cell that has become a prompt, and one that no longer is. */
  update(cell: Cell): void {
    if (!(cell instanceof CodeCell)) {
      return;
    }
    const source = cell.model.sharedModel.getSource();
    const prompt = isAgentCell(source);
    cell.toggleClass(AGENT_CLASS, isForAgent(source));
    if (prompt !== cell.hasClass(PROMPT_CLASS)) {
      cell.toggleClass(PROMPT_CLASS, prompt);
      cell.model.mimeType = prompt ? PROSE : this._options.panel.content.codeMimetype;
      // A cell out of sight has no editor yet.
      const { trans } = this._options;
      void attempt(trans, trans.__('Set up the editor of a question'), () =>
        cell.ready.then(() => this._closeBrackets(cell))
      );
    } else if (prompt) {
      if (cell.model.mimeType !== PROSE) {
        cell.model.mimeType = PROSE;
      }
      this._closeBrackets(cell); // the user's settings may have come meanwhile
    }
  }

  /** Not in prose: an apostrophe or a smiley opens nothing there. In code as the user has set it. */
  private _closeBrackets(cell: CodeCell): void {
    const prompt = cell.hasClass(PROMPT_CLASS);
    if (prompt && cell.editor?.getOption(CLOSING) === true) {
      this._closing.add(cell);
      cell.editor.setOption(CLOSING, false);
    } else if (!prompt && this._closing.delete(cell)) {
      cell.editor?.setOption(CLOSING, true);
    }
  }

  /** While a prompt is edited, the list of completions is wide enough for their descriptions. */
  showAsking(): void {
    document.body.classList.toggle(
      'jp-CodeAgent-asking',
      this._options.panel.content.activeCell?.hasClass(PROMPT_CLASS) ?? false
    );
  }

  /** Cells whose brackets would be closed if they were code. */
  private _closing = new WeakSet<Cell>();
}
