import React from 'react';

import type { IPull } from '../../comm/agentstate';
import type { IProgress } from '../../comm/progress';
import { formatTokens } from '../../common/format';
import { cellStateLabel, runStatusLabel } from '../../common/labels';
import type { IRun } from '../../protocol/run';
import { isRunning } from '../../protocol/run';
import { Chip, Problem } from '../controls/basics';
import { VerdictLine } from '../../verdict/verdictline';
import { MissingCells } from '../now/missing';
import { useServices, useSignal } from '../services';
import { Elapsed } from './elapsed';
import { Results } from './results';
import { Stop } from './stop';
import { Timeline } from './timeline';

/** One run whole: under way or from the history. */
export function Run(props: {
  run: IRun;
  progress?: IProgress;
  pulls?: Readonly<Record<string, IPull>>;
  onStop?: () => void;
  onPull?: (name: string) => void;
  /** Its cells can be inserted again where they are not in the notebook. */
  canInsert?: boolean;
  /** Line of its code that is marked, and how to mark another; from 1. */
  line?: number;
  onLine?: (line: number) => void;
  /** Ask one of its next questions; only where its kernel has their programs. */
  onNext?: (question: string) => void;
}): JSX.Element {
  const { trans, cellStates, connections } = useServices();
  useSignal(cellStates.changed);
  const { run, progress } = props;
  const { follows } = run.request;
  const followed = connections.current?.model.state.runs.find(other => follows && other.id === follows);
  const running = isRunning(run);
  const cells = cellStates.stateOf(run);
  return (
    <article className="jp-CodeAgent-run" aria-label={trans.__('Run')}>
      <div className="jp-CodeAgent-prompt">{run.request.prompt}</div>
      {followed && (
        <div className="jp-CodeAgent-quiet jp-CodeAgent-oneLine">
          {trans.__('↳ from “%1”', followed.request.prompt)}
        </div>
      )}
      <div className="jp-CodeAgent-line">
        <Chip kind={run.status}>{runStatusLabel(trans, run.status)}</Chip>
        {cells && <Chip kind={cells}>{cellStateLabel(trans, cells)}</Chip>}
        <Elapsed run={run} progress={progress} />
        {running && props.onStop && (
          <Stop text={trans.__('Stop')} label={trans.__('Stop this run')} onStop={props.onStop} />
        )}
      </div>
      <div className="jp-CodeAgent-quiet">
        {run.request.model} · {formatTokens(trans, (running && progress?.usage) || run.usage)}
      </div>
      <Timeline run={run} progress={progress} cells={cells} />
      {props.canInsert && cellStates.canReinsert(run) && (
        <MissingCells run={{ id: run.id, prompt: run.request.prompt, cellId: run.request.cell_id }} />
      )}
      {run.error &&
        (run.status === 'failed' ? (
          <Problem>{run.error}</Problem>
        ) : (
          <p className="jp-CodeAgent-quiet">{run.error}</p>
        ))}
      <VerdictLine run={run} trans={trans} line={props.line} onLine={props.onLine} />
      <Results run={run} pulls={props.pulls} onPull={running ? undefined : props.onPull} />
      <NextQuestions run={run} onNext={props.onNext} />
      {run.notes.map(note => (
        <p key={note} className="jp-CodeAgent-quiet">
          {note}
        </p>
      ))}
    </article>
  );
}

function NextQuestions(props: { run: IRun; onNext?: (question: string) => void }): JSX.Element | null {
  const { trans } = useServices();
  const { run, onNext } = props;
  const questions = run.next_questions ?? [];
  if (!onNext || questions.length === 0) {
    return null;
  }
  return (
    <div className="jp-CodeAgent-nextQuestions" role="group" aria-label={trans.__('Next questions')}>
      <span className="jp-CodeAgent-cellBarLabel">{trans.__('Next:')}</span>
      {questions.map(question => (
        <button
          key={question}
          type="button"
          className="jp-CodeAgent-nextQuestion"
          onClick={() => onNext(question)}
        >
          {question}
        </button>
      ))}
    </div>
  );
}
