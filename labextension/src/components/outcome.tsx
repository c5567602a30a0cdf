import type { LabIcon } from '@jupyterlab/ui-components';
import {
  checkIcon,
  circleEmptyIcon,
  closeIcon,
  editIcon,
  errorIcon,
  runningIcon,
  stopIcon
} from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { Outcome } from '../history';
import type { CellState } from '../protocol';
import { cellStateWord, runStatusWord } from '../words';
import { useServices } from './services';

const ICONS: Record<Outcome, LabIcon> = {
  accepted: checkIcon,
  edited: editIcon,
  pending: circleEmptyIcon,
  discarded: closeIcon,
  rejected: closeIcon,
  failed: errorIcon,
  stopped: stopIcon,
  interrupted: stopIcon,
  running: runningIcon,
  waiting: runningIcon
};

export function outcomeWord(trans: TranslationBundle, outcome: Outcome): string {
  return isCellState(outcome) ? cellStateWord(trans, outcome) : runStatusWord(trans, outcome);
}

function isCellState(outcome: Outcome): outcome is CellState {
  return ['pending', 'accepted', 'edited', 'discarded'].includes(outcome);
}

/** What came of a run: a sign and a word, so that nobody depends on the colour. */
export function OutcomeLabel(props: { outcome: Outcome }): JSX.Element {
  const { trans } = useServices();
  const Icon = ICONS[props.outcome] ?? circleEmptyIcon;
  return (
    <span className="jp-CodeAgent-outcome" data-outcome={props.outcome}>
      <Icon.react tag="span" width="12px" height="12px" aria-hidden="true" />
      {outcomeWord(trans, props.outcome)}
    </span>
  );
}
