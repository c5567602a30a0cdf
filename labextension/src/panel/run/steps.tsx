import React, { useMemo } from 'react';

import { formatSeconds, formatTokens } from '../../common/format';
import { resultLabel } from '../../common/labels';
import type { IChatMessage, IStep } from '../../protocol/run';
import { Fold } from '../controls/basics';
import { CopyableCode } from '../controls/codeview';
import { Outputs } from '../controls/outputs';
import { useServices } from '../services';
import { ToolCalls } from './calls';
import { DecisionLine } from './decision';
import { stepProblem } from './timelineentries';

/** One line: which step, what went wrong, how long it took. */
export function StepSummary(props: { step: IStep }): JSX.Element {
  const { trans } = useServices();
  const { step } = props;
  const problem = stepProblem(step);
  return (
    <span className="jp-CodeAgent-entryLine">
      <span>
        {trans.__('Step %1', step.index)}
        {step.result && ` · ${resultLabel(trans, step.result.status)}`}
      </span>
      <span className="jp-CodeAgent-figure">{formatSeconds(step.duration_s)}</span>
      {problem && <span className="jp-CodeAgent-stepProblem">{problem}</span>}
    </span>
  );
}

export function StepBody(props: { step: IStep }): JSX.Element {
  const { trans } = useServices();
  const { step } = props;
  const { result, decision } = step;
  // The same list while the step is the same: drawing outputs anew costs.
  const outputs = useMemo(
    () => step.result?.outputs.filter(output => output.output_type !== 'error') ?? [],
    [step]
  );
  return (
    <>
      {step.code && <CopyableCode code={step.code} label={trans.__('Code of step %1', step.index)} />}
      <DecisionLine decision={decision} />
      {result?.error && (
        <p className="jp-CodeAgent-error">
          {result.error.ename}: {result.error.evalue}
          {result.error.line !== null && ` (${trans.__('line %1', result.error.line)})`}
        </p>
      )}
      {result?.reason && <p className="jp-CodeAgent-error">{result.reason}</p>}
      <ToolCalls calls={result?.calls ?? []} />
      <Outputs outputs={outputs} />
      {result?.notes.map(note => (
        <p key={note} className="jp-CodeAgent-quiet">
          {note}
        </p>
      ))}
      {step.note && <p className="jp-CodeAgent-quiet">{step.note}</p>}
      <p className="jp-CodeAgent-quiet">{formatTokens(trans, step.usage)}</p>
      {step.messages && <Messages messages={step.messages} />}
    </>
  );
}

function Messages(props: { messages: readonly IChatMessage[] }): JSX.Element {
  const { trans } = useServices();
  return (
    <Fold summary={trans.__('Messages sent (%1)', props.messages.length)}>
      {props.messages.map((message, i) => (
        <div key={i} className="jp-CodeAgent-message">
          <strong>{message.role}</strong>
          <pre className="jp-CodeAgent-plain" tabIndex={0}>
            {message.content}
          </pre>
        </div>
      ))}
    </Fold>
  );
}
