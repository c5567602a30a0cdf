/** The agent in the status bar: what waits, what runs, in all notebooks of the page. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { agentIcon } from '../common/icons';
import { statusLine } from './activity';
import type { Notifications } from './notifications';

const TICK_MS = 1000;

export class StatusItem extends Widget {
  constructor(
    private readonly _notifications: Notifications,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-CodeAgent-statusItem');
    this._button.type = 'button';
    this._button.addEventListener('click', () => this._notifications.reveal(this._kernelId));
    const icon = agentIcon.element({ tag: 'span', className: 'jp-CodeAgent-statusIcon' });
    this._button.append(icon, this._text);
    this.node.append(this._button);
    _notifications.changed.connect(this._draw, this);
    this._draw();
  }

  /** Whether there is something to say; the status bar shows an item again whenever it lays itself out. */
  get isActive(): boolean {
    return this._text.textContent !== '' && this._kernelId !== '';
  }

  dispose(): void {
    window.clearTimeout(this._timer);
    this._notifications.changed.disconnect(this._draw, this);
    super.dispose();
  }

  private _draw(): void {
    window.clearTimeout(this._timer);
    this._timer = 0;
    const line = statusLine(this._trans, this._notifications.currentActivity(), Date.now());
    this.setHidden(line === null);
    if (!line) {
      this._kernelId = '';
      return;
    }
    this._kernelId = line.kernelId;
    this._button.dataset.kind = line.kind;
    this._button.title = line.title;
    if (this._text.textContent !== line.text) {
      this._text.textContent = line.text;
    }
    if (line.kind === 'running') {
      this._timer = window.setTimeout(() => this._draw(), TICK_MS);
    }
  }

  private readonly _button = document.createElement('button');
  private readonly _text = document.createElement('span');
  private _kernelId = '';
  private _timer = 0;
}
