import { checkIcon, closeIcon, stopIcon } from '@jupyterlab/ui-components';
import React from 'react';

import type { IProgress } from '../../comm/progress';
import { formatBytes } from '../../common/format';
import { cellStateLabel, entryStateLabel, phaseLabel } from '../../common/labels';
import type { DisplayState } from '../../history/runcells';
import type { Phase } from '../../protocol/messages';
import type { IRun } from '../../protocol/run';
import { isRunning } from '../../protocol/run';
import { Fold } from '../controls/basics';
import { useServices } from '../services';
import { ToolCalls } from './calls';
import { Sent } from './sent';
import { StepBody, StepSummary } from './steps';
import { GenerationSpeed, Stream } from './stream';
import type { EntryState, IEntry } from './timelineentries';
import { timelineEntries } from './timelineentries';

/** A run step by step: what is done, what is under way, what went wrong. */
export function Timeline(props: {
  run: IRun;
  progress?: IProgress;
  /** What is displayed as the state of its cells. */
  cells: DisplayState | null;
}): JSX.Element {
  const { trans } = useServices();
  const { run, progress } = props;
  const running = isRunning(run);
  const entries = timelineEntries(run, running ? (progress?.phase ?? null) : null, progress?.step ?? 0);
  return (
    <ol className="jp-CodeAgent-timeline" aria-label={trans.__('Steps of this run')}>
      {entries.map(entry => (
        <li
          key={entry.kind === 'step' ? `step-${entry.index}` : entry.kind}
          data-kind={entry.kind}
          data-state={entry.state}
          aria-current={entry.state === 'now' ? 'step' : undefined}
        >
          <State state={entry.state} />
          <div className="jp-CodeAgent-entry">
            <Entry run={run} entry={entry} progress={running ? progress : undefined} cells={props.cells} />
          </div>
        </li>
      ))}
    </ol>
  );
}

function State(props: { state: EntryState }): JSX.Element {
  const { trans } = useServices();
  const icon = { done: checkIcon, failed: closeIcon, stopped: stopIcon, rejected: stopIcon, now: null }[
    props.state
  ];
  return (
    <span className="jp-CodeAgent-state" role="img" aria-label={entryStateLabel(trans, props.state)}>
      {icon && <icon.react tag="span" />}
    </span>
  );
}

function Entry(props: {
  run: IRun;
  entry: IEntry;
  progress?: IProgress;
  cells: DisplayState | null;
}): JSX.Element {
  const { run, entry, progress } = props;
  const now = entry.state === 'now';
  switch (entry.kind) {
    case 'variables':
      return <Variables run={run} now={now} phase={progress?.phase} />;
    case 'step':
      return <Step run={run} entry={entry} progress={now ? progress : undefined} />;
    case 'answer':
      return <div className="jp-CodeAgent-answer">{run.answer}</div>;
    case 'cells':
      return <Cells run={run} now={now} state={props.cells} />;
  }
}

function Variables(props: { run: IRun; now: boolean; phase?: Phase }): JSX.Element {
  const { trans } = useServices();
  const { run } = props;
  const { unchanged = [] } = run.manifest;
  const copied = run.manifest.copied.filter(item => !unchanged.includes(item.name));
  const total = copied.reduce((sum, item) => sum + item.size_bytes, 0);
  if (props.now) {
    return <CurrentPhase text={phaseLabel(trans, props.phase ?? 'context')} />;
  }
  return (
    <Fold
      summary={
        <span className="jp-CodeAgent-entryLine">
          <span>{trans.__('Your variables')}</span>
          <span className="jp-CodeAgent-figure">
            {copied.length > 0 || unchanged.length === 0
              ? trans._n('%1 copied (%2)', '%1 copied (%2)', copied.length, formatBytes(total))
              : trans._n('%1 already copied', '%1 already copied', unchanged.length)}
          </span>
        </span>
      }
    >
      <Sent run={run} />
    </Fold>
  );
}

function Step(props: {
  run: IRun;
  entry: Extract<IEntry, { kind: 'step' }>;
  progress?: IProgress;
}): JSX.Element {
  const { trans } = useServices();
  const { run, entry, progress } = props;
  if (progress) {
    return (
      <>
        <CurrentPhase
          text={
            <>
              {trans.__('Step %1', entry.index)} · {phaseLabel(trans, progress.phase)}
            </>
          }
          extra={<GenerationSpeed progress={progress} />}
        />
        <Stream progress={progress} />
        <ToolCalls calls={progress.calls} count={progress.call_count} />
      </>
    );
  }
  if (!entry.step) {
    return <CurrentPhase text={trans.__('Step %1', entry.index)} />;
  }
  // The last step is open unless it became the result, which has a section of its own.
  const open = run.status !== 'ok' && !isRunning(run) && entry.step === run.steps[run.steps.length - 1];
  return (
    <Fold key={String(open)} open={open} summary={<StepSummary step={entry.step} />}>
      <StepBody step={entry.step} />
    </Fold>
  );
}

function Cells(props: { run: IRun; now: boolean; state: DisplayState | null }): JSX.Element {
  const { trans } = useServices();
  const { run, now, state } = props;
  if (now || run.placed === 'inserting') {
    return <CurrentPhase text={phaseLabel(trans, 'inserting')} />;
  }
  return (
    <span>
      {state
        ? cellStateLabel(trans, state)
        : run.placed === 'output'
          ? trans.__('displayed below the question')
          : trans.__('not inserted into the notebook')}
    </span>
  );
}

function CurrentPhase(props: { text: React.ReactNode; extra?: React.ReactNode }): JSX.Element {
  return (
    <div className="jp-CodeAgent-entryLine">
      <span className="jp-CodeAgent-phase">{props.text}</span>
      {props.extra}
    </div>
  );
}
