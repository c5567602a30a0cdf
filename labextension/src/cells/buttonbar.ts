import type { Cell } from '@jupyterlab/cells';
import type { LabIcon } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';

export interface IBarButton {
  text: string;
  /** What it does, and its keys. */
  title: string;
  /** Displayed without the text where the bar is too narrow. */
  icon: LabIcon;
  act: () => void;
  primary?: boolean;
  /** Never display the text. */
  iconOnly?: boolean;
  disabled?: boolean;
}

/** A row of small buttons that belongs to a cell; other nodes may be among them. */
export class ButtonBar extends Widget {
  constructor(label: string, items: readonly (IBarButton | HTMLElement)[], note = '') {
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
    this.node.append(...items.map(item => (item instanceof HTMLElement ? item : buttonNode(item))));
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
    const buttons = [...this.node.querySelectorAll<HTMLElement>('button:not(:disabled)')];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step && at >= 0) {
      buttons[(at + step + buttons.length) % buttons.length].focus();
    } else if (event.key === 'Escape' && !event.isComposing) {
      this._toCell();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

export function buttonNode(button: IBarButton): HTMLButtonElement {
  const node = document.createElement('button');
  node.type = 'button';
  node.className = 'jp-CodeAgent-button';
  node.classList.toggle('jp-mod-primary', button.primary ?? false);
  node.classList.toggle('jp-mod-icon', button.iconOnly ?? false);
  node.title = button.title;
  node.disabled = button.disabled ?? false;
  const text = document.createElement('span');
  text.className = 'jp-CodeAgent-buttonText';
  text.textContent = button.text;
  node.append(button.icon.element({ tag: 'span', className: 'jp-CodeAgent-buttonIcon' }), text);
  node.addEventListener('click', event => {
    event.stopPropagation();
    button.act();
  });
  return node;
}
