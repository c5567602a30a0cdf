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

import { cellStateLabel, runStatusLabel } from '../../common/labels';
import type { IRunLine, Outcome } from '../../history/client';
import { outcomeOf } from '../../history/client';
import type { DisplayState } from '../../history/runcells';
import type { IRun } from '../../protocol/run';
import { useServices, useSignal } from '../services';

/** By the notebooks of this page and the record together. */
type DisplayOutcome = Outcome | DisplayState;

const ICONS: Record<DisplayOutcome, LabIcon> = {
  accepted: checkIcon,
  edited: editIcon,
  pending: circleEmptyIcon,
  missing: circleEmptyIcon,
  discarded: closeIcon,
  rejected: closeIcon,
  failed: errorIcon,
  stopped: stopIcon,
  interrupted: stopIcon,
  running: runningIcon,
  waiting: runningIcon
};

export function outcomeLabel(trans: TranslationBundle, outcome: DisplayOutcome): string {
  return isCellState(outcome) ? cellStateLabel(trans, outcome) : runStatusLabel(trans, outcome);
}

function isCellState(outcome: DisplayOutcome): outcome is DisplayState {
  return ['pending', 'missing', 'accepted', 'edited', 'discarded'].includes(outcome);
}

export function useOutcome(): (run: IRun | IRunLine) => DisplayOutcome {
  const { cellStates } = useServices();
  useSignal(cellStates.changed);
  return run => cellStates.stateOf(run) ?? outcomeOf(run);
}

/** What came of a run: a sign and a word, so that nobody depends on the colour. */
export function OutcomeLabel(props: { outcome: DisplayOutcome }): JSX.Element {
  const { trans } = useServices();
  const Icon = ICONS[props.outcome] ?? circleEmptyIcon;
  return (
    <span className="jp-CodeAgent-outcome" data-outcome={props.outcome}>
      <Icon.react tag="span" width="12px" height="12px" aria-hidden="true" />
      {outcomeLabel(trans, props.outcome)}
    </span>
  );
}
