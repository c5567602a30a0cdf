/** What the buttons of pending cells say, on the cells and in the panel. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';
import { checkIcon, deleteIcon, editIcon, runIcon } from '@jupyterlab/ui-components';

export interface IButtonText {
  text: string;
  title: string;
  icon: LabIcon;
}

/** `several`: whether the result has more than one cell. */
export function decisionTexts(
  trans: TranslationBundle,
  several: boolean
): Record<'accept' | 'apply' | 'edit' | 'discard', IButtonText> {
  return {
    accept: {
      text: trans.__('Accept'),
      title: several ? trans.__('Keep these cells') : trans.__('Keep this cell'),
      icon: checkIcon
    },
    apply: {
      text: trans.__('Accept & run'),
      title: trans.__('Keep the cells and run their code in your kernel'),
      icon: runIcon
    },
    edit: {
      text: trans.__('Edit'),
      title: trans.__('Keep this cell and edit it'),
      icon: editIcon
    },
    discard: {
      text: trans.__('Discard'),
      title: several
        ? trans.__('Remove these cells; undo brings them back')
        : trans.__('Remove this cell; undo brings it back'),
      icon: deleteIcon
    }
  };
}
