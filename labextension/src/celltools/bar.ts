import type { Cell } from '@jupyterlab/cells';
import { Widget } from '@lumino/widgets';

export interface IBarButton {
  text: string;
  /** What it does, and its keys. */
  title: string;
  act: () => void;
  primary?: boolean;
}

/** A row of small buttons that belongs to a cell. */
export class Bar extends Widget {
  constructor(label: string, buttons: readonly IBarButton[], note = '') {
    super();
    this.node.setAttribute('role', 'toolbar');
    this.node.setAttribute('aria-label', label);
    // The notebook's single-key shortcuts must not act while a button here has the focus.
    this.node.dataset.lmSuppressShortcuts = 'true';
    if (note) {
      const text = document.createElement('span');
      text.className = 'jp-CodeAgent-cellBarLabel';
      text.textContent = note;
      text.title = note;
      this.node.append(text);
    }
    buttons.forEach(button => this.node.append(buttonNode(button)));
    this.node.addEventListener('keydown', event => this._onKey(event));
  }

  /** A bar that goes away because of what was decided leaves the keyboard at its cell. */
  protected onBeforeDetach(): void {
    if (this.node.contains(document.activeElement)) {
      this._toCell();
    }
  }

  private _toCell(): void {
    (this.parent as Cell | null)?.node.focus();
  }

  /** Arrow keys walk along the buttons, Escape leads back to the cell. */
  private _onKey(event: KeyboardEvent): void {
    const buttons = [...this.node.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step && at >= 0) {
      buttons[(at + step + buttons.length) % buttons.length].focus();
    } else if (event.key === 'Escape') {
      this._toCell();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

function buttonNode(button: IBarButton): HTMLButtonElement {
  const node = document.createElement('button');
  node.type = 'button';
  node.className = `jp-CodeAgent-button ${button.primary ? 'jp-mod-primary' : ''}`;
  node.textContent = button.text;
  node.title = button.title;
  node.addEventListener('click', event => {
    event.stopPropagation();
    button.act();
  });
  return node;
}
