import React from 'react';

import { formatCount, formatMoment, formatSeconds } from '../../common/format';
import type { ILinePair } from '../../common/linepairs';
import { inOneColumn, pairLines } from '../../common/linepairs';
import type { IRecordedRun } from '../../history/client';
import { Button, Problem } from '../controls/basics';
import { Outputs } from '../controls/outputs';
import { OutcomeLabel, useOutcome } from '../run/outcome';
import { useServices } from '../services';
import { useRun } from './rundetail';

/** Two runs beside each other; below each other where the panel is narrow. */
export function Comparison(props: { left: string; right: string; onBack?: () => void }): JSX.Element {
  const { trans } = useServices();
  const left = useRun(props.left, 0);
  const right = useRun(props.right, 0);
  const problem = left.problem || right.problem;
  return (
    <div className="jp-CodeAgent-comparison" role="region" aria-label={trans.__('Comparison of two runs')}>
      {props.onBack && <Button onClick={props.onBack}>{trans.__('← All runs')}</Button>}
      {problem && <Problem>{problem}</Problem>}
      {left.run && right.run && <Both left={left.run} right={right.run} />}
    </div>
  );
}

function Both(props: { left: IRecordedRun; right: IRecordedRun }): JSX.Element {
  const { trans } = useServices();
  const { left, right } = props;
  const same = left.request.prompt === right.request.prompt;
  return (
    <>
      {same && <h2 className="jp-CodeAgent-comparePrompt">{left.request.prompt}</h2>}
      <Sides
        title={trans.__('Runs')}
        left={<Summary run={left} prompt={!same} />}
        right={<Summary run={right} prompt={!same} />}
      />
      <section aria-label={trans.__('Code')}>
        <h3>{trans.__('Code')}</h3>
        <CodePair left={left} right={right} />
      </section>
      <section aria-label={trans.__('Outputs')}>
        <h3>{trans.__('Outputs')}</h3>
        <Sides
          title={trans.__('Outputs')}
          left={<Outputs outputs={left.outputs} />}
          right={<Outputs outputs={right.outputs} />}
        />
      </section>
      {(left.answer || right.answer) && (
        <section aria-label={trans.__('Answer')}>
          <h3>{trans.__('Answer')}</h3>
          <Sides title={trans.__('Answer')} left={<Answer run={left} />} right={<Answer run={right} />} />
        </section>
      )}
    </>
  );
}

function Sides(props: { title: string; left: React.ReactNode; right: React.ReactNode }): JSX.Element {
  const { trans } = useServices();
  return (
    <div className="jp-CodeAgent-sides">
      <div role="group" aria-label={trans.__('%1, first run', props.title)} data-side="left">
        {props.left}
      </div>
      <div role="group" aria-label={trans.__('%1, second run', props.title)} data-side="right">
        {props.right}
      </div>
    </div>
  );
}

function Summary(props: { run: IRecordedRun; prompt: boolean }): JSX.Element {
  const { trans } = useServices();
  const { run } = props;
  const outcomeOf = useOutcome();
  const { usage } = run;
  return (
    <>
      <h3>{run.request.model}</h3>
      {props.prompt && <p className="jp-CodeAgent-comparePrompt">{run.request.prompt}</p>}
      <dl className="jp-CodeAgent-facts">
        <dt>{trans.__('Outcome')}</dt>
        <dd>
          <OutcomeLabel outcome={outcomeOf(run)} />
        </dd>
        <dt>{trans.__('Took')}</dt>
        <dd>{run.ended_at === null ? '–' : formatSeconds(run.ended_at - run.started_at)}</dd>
        <dt>{trans.__('Tokens')}</dt>
        <dd>
          {trans.__('%1 in · %2 out', formatCount(usage.prompt_tokens), formatCount(usage.completion_tokens))}
        </dd>
        <dt>{trans.__('Steps')}</dt>
        <dd>{run.steps.length}</dd>
        <dt>{trans.__('Started')}</dt>
        <dd>{formatMoment(run.started_at)}</dd>
      </dl>
      {run.error && <p className="jp-CodeAgent-error">{run.error}</p>}
    </>
  );
}

function Answer(props: { run: IRecordedRun }): JSX.Element {
  return <div className="jp-CodeAgent-answer">{props.run.answer}</div>;
}

/** What was offered; of a run without a result its last attempt. */
function codeOf(run: IRecordedRun): string {
  return run.code || [...run.steps].reverse().find(step => step.code)?.code || '';
}

/** Equal lines at one height; where the columns are below each other, one column with both. */
function CodePair(props: { left: IRecordedRun; right: IRecordedRun }): JSX.Element {
  const { trans } = useServices();
  const pairs = pairLines(codeOf(props.left), codeOf(props.right));
  if (pairs.every(pair => pair.left === pair.right)) {
    return (
      <>
        <p className="jp-CodeAgent-quiet">{trans.__('Both have the same code.')}</p>
        <pre
          className="jp-CodeAgent-lines"
          tabIndex={0}
          role="group"
          aria-label={trans.__('Code of both runs')}
        >
          {codeOf(props.left)}
        </pre>
      </>
    );
  }
  return (
    <>
      <div className="jp-CodeAgent-sides jp-CodeAgent-whereWide">
        <Column pairs={pairs} side="left" label={trans.__('Code of the first run')} />
        <Column pairs={pairs} side="right" label={trans.__('Code of the second run')} />
      </div>
      <pre
        className="jp-CodeAgent-lines jp-CodeAgent-whereNarrow"
        tabIndex={0}
        role="group"
        aria-label={trans.__('Code of both runs: − is only in the first, + only in the second')}
      >
        {inOneColumn(pairs).map((line, i) => (
          <span key={i} data-only={line.only}>
            {`${line.only ? { left: '−', right: '+' }[line.only] : ' '} ${line.text}\n`}
          </span>
        ))}
      </pre>
    </>
  );
}

function Column(props: { pairs: readonly ILinePair[]; side: 'left' | 'right'; label: string }): JSX.Element {
  const { side } = props;
  const other = side === 'left' ? 'right' : 'left';
  return (
    <pre className="jp-CodeAgent-lines" tabIndex={0} role="group" aria-label={props.label}>
      {props.pairs.map((pair, i) => (
        <span
          key={i}
          data-only={pair[side] !== null && pair[side] !== pair[other] ? side : undefined}
          data-gap={pair[side] === null || undefined}
        >
          {`${pair[side] ?? ''}\n`}
        </span>
      ))}
    </pre>
  );
}
