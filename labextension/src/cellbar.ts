import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

export interface ICellBarActions {
  accept: () => void;
  edit: () => void;
  discard: () => void;
  /** Only for code cells. */
  apply?: () => void;
}

/** The small toolbar above a pending cell. */
export class CellBar extends Widget {
  constructor(trans: TranslationBundle, actions: ICellBarActions) {
    super();
    this.addClass('jp-CodeAgent-cellBar');
    this.node.setAttribute('role', 'toolbar');
    this.node.setAttribute('aria-label', trans.__('Pending cell of the code agent'));
    // The notebook's single-key shortcuts must not act while a button here has the focus.
    this.node.dataset.lmSuppressShortcuts = 'true';
    const label = document.createElement('span');
    label.className = 'jp-CodeAgent-cellBarLabel';
    label.textContent = trans.__('Pending · ran in the sandbox on copies');
    this.node.append(label);
    this._add(trans.__('Accept'), trans.__('Keep these cells'), actions.accept, 'jp-mod-primary');
    if (actions.apply) {
      this._add(
        trans.__('Accept & run'),
        trans.__('Keep them and run the code in your kernel'),
        actions.apply
      );
    }
    this._add(trans.__('Edit'), trans.__('Keep this cell and change it'), actions.edit);
    this._add(trans.__('Discard'), trans.__('Remove the cells of this run'), actions.discard);
  }

  private _add(text: string, title: string, act: () => void, className = ''): void {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = `jp-CodeAgent-button ${className}`;
    button.textContent = text;
    button.title = title;
    button.addEventListener('click', event => {
      event.stopPropagation();
      act();
    });
    this.node.append(button);
  }
}
