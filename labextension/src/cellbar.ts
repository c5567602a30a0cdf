/** The bars of pending cells: one that decides about all cells of a run, and a quiet one on each further cell. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IBarButton } from './celltools/bar';
import { Bar } from './celltools/bar';
import type { IBlock, Place } from './celltools/blocks';
import { withKeys } from './celltools/keys';

export interface ICellBarActions {
  accept: () => void;
  edit: () => void;
  discard: () => void;
  /** Only for code cells. */
  apply?: () => void;
}

/** The keys of a command of the review, as they are bound; empty if it has none. */
export type Keys = (command: 'accept' | 'discard' | 'next' | 'previous') => string;

/** Above the first pending cell of a run: what is decided here holds for all of them. */
export function blockBar(
  trans: TranslationBundle,
  block: IBlock,
  actions: ICellBarActions,
  keys: Keys = () => ''
): Bar {
  const several = block.cellIds.length > 1;
  const apply: IBarButton[] = actions.apply
    ? [
        {
          text: trans.__('Accept & run'),
          title: trans.__('Keep, and run the code in your kernel'),
          act: actions.apply
        }
      ]
    : [];
  const bar = new Bar(
    trans.__('Pending cell of the code agent'),
    [
      {
        text: trans.__('Accept'),
        title: withKeys(several ? trans.__('Keep these cells') : trans.__('Keep this cell'), keys('accept')),
        act: actions.accept,
        primary: true
      },
      ...apply,
      { text: trans.__('Edit'), title: trans.__('Keep this cell and change it'), act: actions.edit },
      {
        text: trans.__('Discard'),
        title: withKeys(
          several
            ? trans.__('Remove these cells; undo brings them back')
            : trans.__('Remove this cell; undo brings it back'),
          keys('discard')
        ),
        act: actions.discard
      }
    ],
    noteOf(trans, block)
  );
  bar.addClass('jp-CodeAgent-cellBar');
  return bar;
}

/** On a further cell of the same run: for this one alone. */
export function partButtons(trans: TranslationBundle, actions: ICellBarActions): IBarButton[] {
  return [
    {
      text: trans.__('Accept this cell'),
      title: trans.__('Keep this cell; the others still wait'),
      act: actions.accept
    },
    { text: trans.__('Edit'), title: trans.__('Keep this cell and change it'), act: actions.edit },
    {
      text: trans.__('Discard this cell'),
      title: trans.__('Remove this cell only; undo brings it back'),
      act: actions.discard
    }
  ];
}

/** Which look a pending cell has; another look needs another bar. */
export function lookOf(block: IBlock, place: Place): string {
  return place === 'part' ? 'part' : `${place} ${block.cellIds.length} ${block.roles.join(' ')}`;
}

function noteOf(trans: TranslationBundle, block: IBlock): string {
  const what =
    block.roles.length === 1
      ? block.roles[0] === 'code'
        ? trans.__('Pending')
        : trans.__('Pending answer')
      : block.roles.length === 2 && block.roles.includes('answer')
        ? trans.__('Pending: code and answer')
        : trans.__('Pending: %1 cells', block.roles.length);
  // Not more than that: whether it ran in the sandbox is told by the record, which a notebook of others lacks.
  return block.roles.includes('code') ? trans.__('%1 · not run in your kernel', what) : what;
}
