import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';
import { checkIcon, errorIcon, infoIcon } from '@jupyterlab/ui-components';
import React, { useState } from 'react';

import type { IAssumption, IRun, VerdictLevel } from '../protocol/run';
import { Operations } from './operations';

const ICONS: Record<VerdictLevel, LabIcon> = { checked: checkIcon, look: infoIcon, doubtful: errorIcon };

export interface IVerdictLineProps {
  run: Pick<IRun, 'verdict' | 'assumptions' | 'operations' | 'not_observed'>;
  trans: TranslationBundle;
  /** Ask again with the other choice; without it the assumptions are only named. */
  onRefine?: (assumption: IAssumption) => void;
  /** Show a line of the code, from 1. */
  onLine?: (line: number) => void;
  /** Verdict and reason alone. */
  brief?: boolean;
  /** Line of the code where the cursor is, from 1. */
  line?: number;
}

/** How far a result can be believed: one quiet line; what the code did to the rows is folded below it. */
export function VerdictLine(props: IVerdictLineProps): JSX.Element | null {
  const { trans, run } = props;
  const [open, setOpen] = useState(false);
  const operations = run.operations ?? [];
  const assumptions = run.assumptions ?? [];
  if (!run.verdict || (run.verdict.level === 'checked' && operations.length === 0)) {
    return null; // no step that could be checked
  }
  const { level, reason } = run.verdict;
  const Icon = ICONS[level];
  // The chip of what the reason says already names the other choice instead.
  const chipText = ({ text, refinement }: IAssumption): string =>
    reason.startsWith(text) ? refinement : text;
  return (
    <div className="jp-CodeAgent-verdict" data-level={level} role="group" aria-label={trans.__('Verdict')}>
      <span className="jp-CodeAgent-verdictReason" title={verdictTitle(trans, level, reason)}>
        <Icon.react tag="span" width="14px" height="14px" aria-hidden="true" />
        <span>
          <strong>{verdictLabel(trans, level)}</strong>
          {level !== 'checked' && `: ${reason}`}
        </span>
      </span>
      {!props.brief &&
        assumptions.map(assumption =>
          props.onRefine && assumption.refinement ? (
            <button
              key={assumption.text}
              type="button"
              className="jp-CodeAgent-assumption"
              title={trans.__('Ask again: %1', assumption.refinement)}
              onClick={() => props.onRefine!(assumption)}
            >
              {chipText(assumption)}
            </button>
          ) : (
            !reason.startsWith(assumption.text) && (
              <span key={assumption.text} className="jp-CodeAgent-assumption">
                {assumption.text}
              </span>
            )
          )
        )}
      {!props.brief && operations.length > 0 && (
        <button
          type="button"
          className="jp-CodeAgent-link jp-CodeAgent-operationsToggle"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open ? '▾' : '▸'} {trans.__('Steps of the code (%1)', operations.length)}
        </button>
      )}
      {open && <Operations operations={operations} trans={trans} onLine={props.onLine} line={props.line} />}
      {open && level === 'checked' && <p className="jp-CodeAgent-quiet">{reason}</p>}
      {open && run.not_observed && (
        <p className="jp-CodeAgent-quiet">{trans.__('Some steps were not observed: %1', run.not_observed)}</p>
      )}
    </div>
  );
}

function verdictTitle(trans: TranslationBundle, level: VerdictLevel, reason: string): string {
  return level === 'checked'
    ? trans.__('%1. Check for yourself whether the code answers your question.', reason)
    : reason;
}

function verdictLabel(trans: TranslationBundle, level: VerdictLevel): string {
  return {
    checked: trans.__('Rows checked'),
    look: trans.__('Worth a look'),
    doubtful: trans.__('Doubtful')
  }[level];
}
