import React from 'react';

import { formatSeconds, formatTokens } from '../format';
import type { IChatMessage, IRun, IStep } from '../record';
import { resultWord } from '../words';
import { Chip, Code, Fold } from './basics';
import { Outputs } from './outputs';
import { useServices } from './services';

/** The last step is open unless it became the result, which is shown elsewhere. */
export function Steps(props: { run: IRun }): JSX.Element | null {
  const { run } = props;
  return run.steps.length === 0 ? null : (
    <ol className="jp-CodeAgent-steps">
      {run.steps.map((step, i) => {
        const open = run.status !== 'ok' && i === run.steps.length - 1;
        // With `open` in the key a step folds itself when the next one begins.
        return (
          <li key={`${step.index}-${open}`}>
            <Step step={step} open={open} />
          </li>
        );
      })}
    </ol>
  );
}

function Step(props: { step: IStep; open: boolean }): JSX.Element {
  const { trans } = useServices();
  const { step } = props;
  const kind = step.result?.status ?? (step.note ? 'error' : 'running');
  return (
    <Fold
      open={props.open}
      summary={
        <>
          {trans.__('Step %1', step.index)}{' '}
          {step.result && <Chip kind={kind}>{resultWord(trans, step.result.status)}</Chip>}{' '}
          <span className="jp-CodeAgent-quiet">
            {formatSeconds(step.duration_s)} · {formatTokens(trans, step.usage)}
          </span>
        </>
      }
    >
      <StepBody step={step} />
    </Fold>
  );
}

function StepBody(props: { step: IStep }): JSX.Element {
  const { trans } = useServices();
  const { step } = props;
  const { result, decision } = step;
  return (
    <>
      {step.code && <Code code={step.code} label={trans.__('Code of step %1', step.index)} copy />}
      {decision && decision.decided_by !== 'policy' && (
        <p className="jp-CodeAgent-quiet">
          {decision.action === 'approve'
            ? trans.__('Approved (%1)', decision.decided_by)
            : trans.__('Rejected (%1)', decision.decided_by)}
          {decision.reason && `: ${decision.reason}`}
        </p>
      )}
      {result?.error && (
        <p className="jp-CodeAgent-error">
          {result.error.ename}: {result.error.evalue}
          {result.error.line !== null && ` (${trans.__('line %1', result.error.line)})`}
        </p>
      )}
      {result?.reason && <p className="jp-CodeAgent-error">{result.reason}</p>}
      {result && <Outputs outputs={result.outputs.filter(output => output.output_type !== 'error')} />}
      {result?.notes.map(note => (
        <p key={note} className="jp-CodeAgent-quiet">
          {note}
        </p>
      ))}
      {step.note && <p className="jp-CodeAgent-quiet">{step.note}</p>}
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
