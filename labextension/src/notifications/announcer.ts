/** A live region: a screen reader announces how the agent's runs go. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IRun } from '../protocol/run';

/** Only changes of a run's state are announced, not its progress. */
export class Announcer {
  constructor(private readonly _trans: TranslationBundle) {
    // Outside of the panel: what is hidden is not read aloud.
    this.node.className = 'jp-CodeAgent-announcer';
    this.node.setAttribute('role', 'status');
    this.node.setAttribute('aria-live', 'polite');
    document.body.append(this.node);
  }

  readonly node = document.createElement('div');

  started(notebook: string): void {
    this._say(this._trans.__('The code agent has started in %1.', notebook));
  }

  waits(notebook: string): void {
    this._say(this._trans.__('The code agent is waiting for your decision in %1.', notebook));
  }

  ended(run: Pick<IRun, 'status' | 'error'>, notebook: string): void {
    this._say(endMessage(this._trans, run, notebook));
  }

  dispose(): void {
    this.node.remove();
  }

  private _say(text: string): void {
    // The same sentence twice in a row would not be read: a change is needed.
    this.node.textContent = this.node.textContent === text ? `${text}\u00a0` : text;
  }
}

function endMessage(trans: TranslationBundle, run: Pick<IRun, 'status' | 'error'>, notebook: string): string {
  if (run.status === 'ok') {
    return trans.__('The code agent has finished in %1.', notebook);
  }
  return run.status === 'failed'
    ? trans.__('The code agent failed in %1: %2', notebook, run.error.split('\n')[0])
    : trans.__('The code agent’s run in %1 has ended.', notebook);
}
