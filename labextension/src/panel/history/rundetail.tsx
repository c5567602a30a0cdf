import React, { useEffect, useRef, useState } from 'react';

import type { IRecordedRun } from '../../history/client';
import { Code, Problem, Section } from '../controls/basics';
import { Outputs } from '../controls/outputs';
import { Run } from '../run/run';
import { useServices, useSignal } from '../services';
import { OtherAnswers } from './otheranswers';
import { RunActions } from './runactions';
import { RunFacts } from './runfacts';

/** One run of the history, whole, and what can be done with it. */
export function RunDetail(props: {
  runId: string;
  /** Changes when there is something new in the history. */
  version: number;
  /** The user came here from the list: the keyboard goes along. */
  focus: boolean;
  onBack: () => void;
  onCompare: (left: string, right: string) => void;
}): JSX.Element {
  const { trans, connections, runs } = useServices();
  const { runId, onBack, focus } = props;
  const current = connections.current;
  // Only the kernel that made the run may still have its results.
  const connection = current?.model.state.runs.some(known => known.id === runId) ? current : null;
  useSignal(connection?.model.changed);
  const { run, problem } = useRun(runId, props.version);
  const [line, setLine] = useState(0);
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focus) {
      top.current?.querySelector<HTMLElement>('button')?.focus();
    }
  }, [focus]);
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.key === 'Escape' && !(event.target as HTMLElement).matches('input, textarea')) {
      onBack();
    }
  };
  return (
    <div ref={top} className="jp-CodeAgent-runPage" onKeyDown={onKeyDown}>
      <RunActions
        run={run}
        onBack={onBack}
        onChoose={() => run && (runs.view = { kind: 'choose', id: run.id, prompt: run.request.prompt })}
      />
      {problem && <Problem>{problem}</Problem>}
      {run && (
        <>
          <Run
            run={run}
            pulls={connection?.model.state.pulls}
            line={line}
            onLine={setLine}
            onPull={connection ? name => connection.pull(run.id, name) : undefined}
          />
          {run.code && (
            <Section title={trans.__('Result')}>
              <Code code={run.code} label={trans.__('Final code')} copy line={line} onLine={setLine} />
              <Outputs outputs={run.outputs} />
            </Section>
          )}
          <OtherAnswers run={run} version={props.version} onCompare={id => props.onCompare(run.id, id)} />
          <RunFacts run={run} />
        </>
      )}
    </div>
  );
}

/** The run as the history has it now. */
export function useRun(runId: string, version: number): { run: IRecordedRun | null; problem: string } {
  const { history } = useServices();
  const [run, setRun] = useState<IRecordedRun | null>(null);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let wanted = true;
    history.get(runId).then(
      found => {
        if (wanted) {
          setRun(found);
          setProblem('');
        }
      },
      (error: Error) => wanted && setProblem(error.message)
    );
    return () => {
      wanted = false;
    };
  }, [history, runId, version]);
  return { run, problem };
}
