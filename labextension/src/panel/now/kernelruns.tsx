import React, { useEffect, useReducer } from 'react';

import type { AgentModel } from '../../comm/agentmodel';
import type { IAgentState } from '../../comm/agentstate';
import { currentRun } from '../../comm/agentstate';
import type { KernelConnection } from '../../comm/connection';
import type { IProgress } from '../../comm/progress';
import { attempt } from '../../common/attempt';
import { runStatusLabel } from '../../common/labels';
import type { IRun } from '../../protocol/run';
import { Chip, Empty, Fold, Section } from '../controls/basics';
import { Elapsed } from '../run/elapsed';
import { Run } from '../run/run';
import { useServices } from '../services';
import { SandboxBadge } from './sandboxbadge';

/** Faster than this nobody reads; each drawing costs. The kernel sends a little less often. */
const DRAW_MS = 200;

/** The run under way or the last one, what waits behind it, and the earlier ones of this kernel. */
export function KernelRuns(props: {
  connection: KernelConnection;
  state: IAgentState;
  /** Prompts that were started and wait for the kernel. */
  queued: number;
}): JSX.Element {
  const { trans } = useServices();
  const { connection, state, queued } = props;
  const run = currentRun(state);
  return (
    <>
      <Section title={trans.__('Run')} extra={state.sandbox && <SandboxBadge sandbox={state.sandbox} />}>
        {run ? <LiveRun key={run.id} connection={connection} run={run} state={state} /> : <HowToAsk />}
        {queued > 0 && (
          <p className="jp-CodeAgent-quiet">
            {trans._n('%1 more question is queued.', '%1 more questions are queued.', queued)}
          </p>
        )}
      </Section>
      <Earlier connection={connection} state={state} runs={state.runs.filter(other => other !== run)} />
    </>
  );
}

/** What asks one of the next questions of a run, in the notebook that is looked at. */
function useNext(runId: string): (question: string) => void {
  const { trans, tracker, actions } = useServices();
  return question => {
    const panel = tracker.currentWidget;
    if (panel) {
      void attempt(trans, trans.__('Ask the next question'), () => actions.askNext(panel, runId, question));
    }
  };
}

function LiveRun(props: { connection: KernelConnection; run: IRun; state: IAgentState }): JSX.Element {
  const { connection, run, state } = props;
  return (
    <Run
      run={run}
      progress={useProgress(connection.model, run.id)}
      pulls={state.pulls}
      onStop={() => connection.send({ type: 'stop', run_id: run.id })}
      onPull={name => connection.pull(run.id, name)}
      onNext={useNext(run.id)}
      canInsert
    />
  );
}

function EarlierRun(props: { connection: KernelConnection; run: IRun; state: IAgentState }): JSX.Element {
  const { connection, run, state } = props;
  return (
    <Run
      run={run}
      pulls={state.pulls}
      onPull={name => connection.pull(run.id, name)}
      onNext={useNext(run.id)}
      canInsert
    />
  );
}

/** The newest progress of a run, at once when it comes, five times a second at most however fast it comes. */
function useProgress(model: AgentModel, runId: string): IProgress | undefined {
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    let timer = 0;
    let drawnAt = 0;
    const draw = (): void => {
      timer = 0;
      drawnAt = Date.now();
      again();
    };
    const slot = (_: AgentModel, id: string): void => {
      if (id === runId && !timer) {
        timer = window.setTimeout(draw, Math.max(0, drawnAt + DRAW_MS - Date.now()));
      }
    };
    model.progressed.connect(slot);
    return () => {
      model.progressed.disconnect(slot);
      window.clearTimeout(timer);
    };
  }, [model, runId]);
  return model.state.progress[runId];
}

function HowToAsk(): JSX.Element {
  const { trans } = useServices();
  return (
    <Empty>
      <p>{trans.__('Ready. Write a question about your data in a cell:')}</p>
      {/* Not translated as a whole: the translation would take the percent signs for a placeholder. */}
      <pre className="jp-CodeAgent-plain">{`%%agent\n${trans.__('Which month has the longest delays?')}`}</pre>
    </Empty>
  );
}

function Earlier(props: {
  connection: KernelConnection;
  state: IAgentState;
  runs: readonly IRun[];
}): JSX.Element | null {
  const { trans } = useServices();
  const { connection, state, runs } = props;
  if (runs.length === 0) {
    return null;
  }
  return (
    <Fold
      className="jp-CodeAgent-earlier"
      summary={trans.__('Earlier runs since the kernel started (%1)', runs.length)}
    >
      <ul>
        {[...runs].reverse().map(run => (
          <li key={run.id}>
            <Fold
              summary={
                <span className="jp-CodeAgent-entryLine">
                  <span className="jp-CodeAgent-oneLine">
                    {run.request.follows ? `↳ ${run.request.prompt}` : run.request.prompt}
                  </span>
                  <Chip kind={run.status}>{runStatusLabel(trans, run.status)}</Chip>
                  <Elapsed run={run} />
                </span>
              }
            >
              <EarlierRun connection={connection} run={run} state={state} />
            </Fold>
          </li>
        ))}
      </ul>
    </Fold>
  );
}
