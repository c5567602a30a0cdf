/** The bars of pending cells: one that decides about all cells of a run, and a quiet one on each further cell. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { caretLeftIcon, caretRightIcon, checkIcon, copyIcon, deleteIcon } from '@jupyterlab/ui-components';

import type { IBlock, BlockPosition } from '../notebook/blocks';
import type { IBarButton } from './buttonbar';
import { ButtonBar, buttonNode } from './buttonbar';
import { decisionTexts } from './decisiontexts';
import { withKeys } from './shortcuts';

export interface ICellBarActions {
  accept: () => void;
  edit: () => void;
  discard: () => void;
  /** Only for code cells. */
  apply?: () => void;
  /** To the version before (-1) or after (1) the displayed one. */
  showVersion: (step: 1 | -1) => void;
  /** The displayed version beside the one before it, or after the first. */
  compareVersions: () => void;
}

/** The keys of a command of the review, as they are bound; empty if it has none. */
export type Keys = (command: 'accept' | 'discard' | 'next' | 'previous' | 'refine') => string;

/** Which version of a result is displayed: its index from 0, and how many there are. */
export interface IDisplayedVersion {
  index: number;
  count: number;
}

/** Above the first pending cell of a run: what is decided here holds for all of them. */
export function pendingBar(
  trans: TranslationBundle,
  block: IBlock,
  actions: ICellBarActions,
  keys: Keys = () => '',
  version: IDisplayedVersion = { index: 0, count: 1 }
): ButtonBar {
  const texts = decisionTexts(trans, block.cellIds.length > 1);
  const { accept, discard } = texts;
  const bar = new ButtonBar(
    trans.__('Pending cell of the code agent'),
    [
      ...(version.count > 1 ? [versionSwitch(trans, version, actions)] : []),
      { ...accept, title: withKeys(accept.title, keys('accept')), act: actions.accept, primary: true },
      ...(actions.apply ? [{ ...texts.apply, act: actions.apply }] : []),
      { ...texts.edit, act: actions.edit },
      { ...discard, title: withKeys(discard.title, keys('discard')), act: actions.discard }
    ],
    noteOf(trans, block)
  );
  bar.addClass('jp-CodeAgent-cellBar');
  return bar;
}

/** On a further cell of the same run: for this one alone. */
export function singleCellButtons(trans: TranslationBundle, actions: ICellBarActions): IBarButton[] {
  return [
    {
      text: trans.__('Accept this cell'),
      title: trans.__('Keep this cell; the others stay pending'),
      icon: checkIcon,
      iconOnly: true,
      act: actions.accept
    },
    { ...decisionTexts(trans, false).edit, iconOnly: true, act: actions.edit },
    {
      icon: deleteIcon,
      iconOnly: true,
      text: trans.__('Discard this cell'),
      title: trans.__('Remove this cell only; undo brings it back'),
      act: actions.discard
    }
  ];
}

/** Which look a pending cell has; another look needs another bar. */
export function appearanceOf(block: IBlock, position: BlockPosition, version: IDisplayedVersion): string {
  const { index, count } = version;
  return position === 'part'
    ? 'part'
    : `${position} ${block.cellIds.length} ${block.roles.join(' ')} ${index} of ${count}`;
}

/** `◂ 2/3 ▸`, and both side by side */
function versionSwitch(
  trans: TranslationBundle,
  { index, count }: IDisplayedVersion,
  { showVersion: show, compareVersions }: ICellBarActions
): HTMLElement {
  const node = document.createElement('span');
  node.className = 'jp-CodeAgent-versions';
  node.setAttribute('role', 'group');
  node.setAttribute('aria-label', trans.__('Version %1 of %2', index + 1, count));
  const earlier = trans.__('Show the earlier version');
  const later = trans.__('Show the later version');
  const counter = document.createElement('span');
  counter.textContent = `${index + 1}/${count}`;
  counter.title = trans.__('Version %1 of %2', index + 1, count);
  node.append(
    buttonNode({
      text: earlier,
      title: earlier,
      icon: caretLeftIcon,
      iconOnly: true,
      disabled: index === 0,
      act: () => show(-1)
    }),
    counter,
    buttonNode({
      text: later,
      title: later,
      icon: caretRightIcon,
      iconOnly: true,
      disabled: index === count - 1,
      act: () => show(1)
    }),
    buttonNode({
      text: trans.__('Compare'),
      title:
        index > 0 ? trans.__('Compare with the previous version') : trans.__('Compare with the next version'),
      icon: copyIcon,
      iconOnly: true,
      act: compareVersions
    })
  );
  return node;
}

function noteOf(trans: TranslationBundle, block: IBlock): string {
  const what =
    block.roles.length === 1
      ? block.roles[0] === 'code'
        ? trans.__('Pending')
        : trans.__('Pending text')
      : block.roles.length === 2 && block.roles.includes('answer')
        ? trans.__('Pending: code and text')
        : trans.__('Pending: %1 cells', block.roles.length);
  // Not more than that: whether it ran in the sandbox is in the record, which a notebook of others lacks.
  return block.roles.includes('code') ? trans.__('%1 · not run in your kernel', what) : what;
}
