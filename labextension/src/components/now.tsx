import React from 'react';

import type { KernelConnection } from '../connection';
import type { IAgentState } from '../model';
import { currentRun } from '../model';
import { pendingRuns, sharedNotebook } from '../notebook';
import { askedToShare } from '../sharing';
import { Approval } from './approval';
import { Button, Empty, Problem, Section } from './basics';
import { Pending } from './pending';
import { Run } from './run';
import { SandboxBadge } from './sandbox';
import { useServices, useSignal } from './services';
import { Variables } from './variables';

/** What waits, what runs, what is shared: the current notebook. */
export function Now(): JSX.Element {
  const { trans, tracker, connections, marks } = useServices();
  useSignal(connections.changed);
  useSignal(marks.changed);
  const panel = tracker.currentWidget;
  const notebook = sharedNotebook(panel);
  if (!panel || !notebook) {
    return <Empty>{trans.__('Open a notebook to use the code agent.')}</Empty>;
  }
  const connection = connections.current;
  const pending = <Pending panel={panel} runs={pendingRuns(notebook)} />;
  if (!connection) {
    return (
      <>
        {pending}
        <NoKernel />
      </>
    );
  }
  return <Connected key={connection.kernel.id} connection={connection} pending={pending} />;
}

function NoKernel(): JSX.Element {
  const { trans } = useServices();
  return (
    <Empty>
      {trans.__('This notebook has no kernel, or it is still starting. Choose one to use the code agent.')}
    </Empty>
  );
}

function Connected(props: { connection: KernelConnection; pending: JSX.Element }): JSX.Element {
  const { connection } = props;
  const { model } = connection;
  useSignal(model.changed);
  const { state } = model;
  return (
    <>
      {state.proposals.map(proposal => (
        <Approval
          key={proposal.id}
          proposal={proposal}
          onDecide={decision => {
            if (connection.send(decision)) {
              model.forgetProposal(proposal.id);
            }
          }}
        />
      ))}
      {props.pending}
      <LinkNotice connection={connection} state={state} />
      {state.link === 'ready' && <Live connection={connection} state={state} />}
    </>
  );
}

function LinkNotice(props: { connection: KernelConnection; state: IAgentState }): JSX.Element | null {
  const { trans } = useServices();
  const { connection, state } = props;
  switch (state.link) {
    case 'ready':
      return null;
    case 'connecting':
      return (
        <p role="status" className="jp-CodeAgent-quiet">
          {trans.__('Connecting to the kernel …')}
        </p>
      );
    case 'absent':
      return (
        <Empty>
          <p>{trans.__('The kernel of this notebook has not loaded the code agent. Run in a cell:')}</p>
          <pre className="jp-CodeAgent-plain">%load_ext jupyter_codeagent</pre>
          <Button onClick={() => connection.retry()}>{trans.__('Look again')}</Button>
        </Empty>
      );
    case 'failed':
      return (
        <>
          <Problem>{trans.__('No link to the kernel: %1', state.problem)}</Problem>
          <Button onClick={() => connection.retry()}>{trans.__('Try again')}</Button>
        </>
      );
  }
}

function Live(props: { connection: KernelConnection; state: IAgentState }): JSX.Element {
  const { trans, tracker } = useServices();
  const { connection, state } = props;
  const run = currentRun(state);
  const modelName = state.model || run?.request.model;
  return (
    <>
      {run ? (
        <Section title={trans.__('Run')}>
          <Run
            key={run.id}
            run={run}
            progress={state.progress[run.id]}
            pulls={state.pulls}
            onStop={() => connection.send({ type: 'stop', run_id: run.id })}
            onPull={name => connection.pull(run.id, name)}
          />
        </Section>
      ) : (
        <Empty>
          <p>{trans.__('Ready. Write a question about your data in a cell:')}</p>
          {/* Not translated as a whole: the translation would take the percent signs for a placeholder. */}
          <pre className="jp-CodeAgent-plain">
            {`%%agent\n${trans.__('Which month has the longest delays?')}`}
          </pre>
        </Empty>
      )}
      <Variables
        context={state.context}
        found={state.found}
        asked={askedToShare(sharedNotebook(tracker.currentWidget), state.context.sharing)}
        onShare={(name, shared) => {
          if (connection.send({ type: 'share', name, shared })) {
            connection.model.setShared(name, shared);
          }
        }}
        onColumns={(name, columns, hidden) => {
          if (connection.send({ type: 'share_columns', name, columns, hidden })) {
            connection.model.setColumns(name, columns, hidden);
          }
        }}
        onFind={(name, search) => connection.send({ type: 'find_columns', name, search })}
      />
      <footer className="jp-CodeAgent-footer">
        <div className="jp-CodeAgent-quiet">
          {modelName ? trans.__('Model: %1', modelName) : trans.__('Model: chosen at the first run')} ·{' '}
          {trans.__('approval: %1', state.approve)}
        </div>
        {state.sandbox && <SandboxBadge sandbox={state.sandbox} />}
      </footer>
    </>
  );
}
