/** The line below a pending result in which another version of it is asked for. */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { stopIcon } from '@jupyterlab/ui-components';
import type { IDisposable } from '@lumino/disposable';

import { buttonNode } from './buttonbar';
import type { IRefinement, Refinements } from './refinements';
import { withKeys } from './shortcuts';

export interface IRefineBoxOptions {
  panel: NotebookPanel;
  runId: string;
  refinements: Refinements;
  trans: TranslationBundle;
  /** As they are bound; empty if there are none. */
  keys: string;
}

/** Enter asks, Escape leads back to the cell. While the agent works, its phase and Stop are beside the line. */
export class RefineBox implements IDisposable {
  constructor(private readonly _options: IRefineBoxOptions) {
    const { refinements, trans, keys } = _options;
    this.node.className = 'jp-CodeAgent-refine';
    this._field.type = 'text';
    this._field.className = 'jp-CodeAgent-input';
    this._field.placeholder = trans.__('Refine: log scale, top 10 …');
    this._field.title = withKeys(trans.__('What should change? Press Enter to replace this result'), keys);
    this._field.setAttribute('aria-label', trans.__('Refine this result'));
    this._field.addEventListener('keydown', event => this._onKey(event));
    this._words.className = 'jp-CodeAgent-refineWords';
    const stop = buttonNode({
      text: trans.__('Stop'),
      title: trans.__('Stop; the result stays unchanged'),
      icon: stopIcon,
      act: () => {
        this._field.focus(); // this button goes
        refinements.stop(_options.panel, _options.runId);
      }
    });
    this._stop = stop;
    this.node.append(this._field, this._words);
    refinements.changed.connect(this._onChanged, this);
    this._show(refinements.of(_options.panel, _options.runId));
  }

  readonly node = document.createElement('div');

  get hasFocus(): boolean {
    return this._field === document.activeElement;
  }

  focus(): void {
    this._field.focus();
  }

  get isDisposed(): boolean {
    return this._disposed;
  }

  dispose(): void {
    if (!this._disposed) {
      this._disposed = true;
      this._options.refinements.changed.disconnect(this._onChanged, this);
      this.node.remove();
    }
  }

  private _onKey(event: KeyboardEvent): void {
    if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      const { refinements, panel, runId } = this._options;
      void refinements.ask(panel, runId, this._field.value);
    }
  }

  private _onChanged(_: Refinements, runId: string): void {
    if (runId === this._options.runId) {
      this._show(this._options.refinements.of(this._options.panel, runId));
    }
  }

  private _show(refining: IRefinement | null): void {
    const busy = refining !== null && refining.state !== 'failed';
    if (refining && (busy || this._field.value === '')) {
      this._field.value = refining.text;
    }
    // Not disabled: that would take the keyboard from whoever has just pressed Enter.
    this._field.readOnly = busy;
    this.node.dataset.state = refining?.state ?? '';
    this._words.setAttribute('role', refining?.state === 'failed' ? 'alert' : 'status');
    this._words.textContent = refining?.message ?? '';
    if (busy && refining.state !== 'stopping') {
      this.node.append(this._stop);
    } else {
      this._stop.remove();
    }
  }

  private readonly _field = document.createElement('input');
  private readonly _words = document.createElement('span');
  private readonly _stop: HTMLButtonElement;
  private _disposed = false;
}
