/** Below a pending result: how far it can be believed, and what its code did to the rows. */
import type { Cell } from '@jupyterlab/cells';
import type { CodeCell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { PanelLayout } from '@lumino/widgets';
import React from 'react';

import { attempt } from '../common/attempt';
import type { IRun } from '../protocol/run';
import { VerdictLine } from '../verdict/verdictline';
import { NEXT_CLASS } from './nextquestions';
import type { Refinements } from './refinements';

export interface IVerdictLinesOptions {
  panel: NotebookPanel;
  trans: TranslationBundle;
  refinements: Refinements;
  /** The record of a run, from the kernel or else from the history. */
  readRun: (panel: NotebookPanel, runId: string) => Promise<IRun>;
}

/** The lines of one notebook's pending results. */
export class VerdictLines {
  constructor(private readonly _options: IVerdictLinesOptions) {}

  /** Give the cell the line of its run; none where `runId` is empty. */
  update(cell: Cell, runId: string): void {
    if ((this._runs.get(cell) ?? '') === runId) {
      return;
    }
    this._runs.set(cell, runId);
    this._lines.get(cell)?.dispose();
    this._lines.delete(cell);
    if (runId) {
      const { trans } = this._options;
      void attempt(trans, trans.__('Show the verdict on a result'), () =>
        this._draw(cell as CodeCell, runId)
      );
    }
  }

  private async _draw(cell: CodeCell, runId: string): Promise<void> {
    const { panel, readRun } = this._options;
    const run = await readRun(panel, runId).catch(() => null); // deleted, or made elsewhere: there is no record
    await cell.ready;
    // Of this code and no other: anybody may have written into a notebook to which run a cell belongs.
    const isOfRecord = run?.code.trim() === cell.model.sharedModel.getSource().trim();
    if (!run?.verdict || !isOfRecord || cell.isDisposed || this._runs.get(cell) !== runId) {
      return;
    }
    const line = new CellVerdict(cell, run, this._options);
    this._lines.set(cell, line);
    const layout = cell.layout as PanelLayout;
    const tools = layout.widgets.findIndex(
      widget => widget.hasClass('jp-CodeAgent-cellTools') || widget.hasClass(NEXT_CLASS)
    );
    layout.insertWidget(tools < 0 ? layout.widgets.length : tools, line);
  }

  private readonly _runs = new WeakMap<Cell, string>();
  private readonly _lines = new WeakMap<Cell, CellVerdict>();
}

/** A step shows its line of the code, and the cursor in the code marks the steps of its line. */
class CellVerdict extends ReactWidget {
  constructor(
    private readonly _cell: CodeCell,
    private readonly _run: IRun,
    private readonly _options: IVerdictLinesOptions
  ) {
    super();
    this.addClass('jp-CodeAgent-cellVerdict');
    document.addEventListener('selectionchange', this._onSelection);
  }

  dispose(): void {
    document.removeEventListener('selectionchange', this._onSelection);
    super.dispose();
  }

  protected render(): JSX.Element {
    const { panel, trans, refinements } = this._options;
    return (
      <VerdictLine
        run={this._run}
        trans={trans}
        line={this._line}
        onLine={line => this._showLine(line)}
        onRefine={({ refinement }) => void refinements.ask(panel, this._run.id, refinement)}
      />
    );
  }

  private _showLine(line: number): void {
    const { editor } = this._cell;
    const text = editor?.getLine(line - 1);
    if (editor && text !== undefined) {
      this._cell.inputHidden = false;
      editor.revealPosition({ line: line - 1, column: 0 });
      editor.setSelection({
        start: { line: line - 1, column: 0 },
        end: { line: line - 1, column: text.length }
      });
      this._onCursor();
    }
  }

  private _onCursor(): void {
    const line = (this._cell.editor?.getCursorPosition().line ?? -1) + 1;
    if (line !== this._line) {
      this._line = line;
      this.update();
    }
  }

  private readonly _onSelection = (): void => {
    if (this._cell.editor?.hasFocus()) {
      this._onCursor();
    }
  };
  private _line = 0;
}
