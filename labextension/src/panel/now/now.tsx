import React from 'react';

import type { IAgentState } from '../../comm/agentstate';
import { currentRun } from '../../comm/agentstate';
import type { KernelConnection } from '../../comm/connection';
import { approvalLabel } from '../../common/labels';
import { pendingRuns } from '../../notebook/cellstates';
import { sharedNotebook } from '../../notebook/panels';
import { queuedPrompts } from '../../prompts/queue';
import { isRunning } from '../../protocol/run';
import { Grants } from '../approvals/grants';
import { Proposals } from '../approvals/proposals';
import { Button, Empty, Problem } from '../controls/basics';
import { useServices, useSignal } from '../services';
import { KernelRuns } from './kernelruns';
import { Missing } from './missing';
import { OtherNotebooks } from './othernotebooks';
import { Pending } from './pending';
import { ReportButton } from './reportbutton';

/** What waits and what runs in the current notebook. */
export function Now(): JSX.Element {
  const { trans, tracker, connections, decorations } = useServices();
  useSignal(connections.changed);
  useSignal(decorations.changed);
  const panel = tracker.currentWidget;
  const notebook = sharedNotebook(panel);
  if (!panel || !notebook) {
    return (
      <>
        <OtherNotebooks />
        <Empty>{trans.__('Open a notebook to use the code agent.')}</Empty>
      </>
    );
  }
  const connection = connections.current;
  const pending = (
    <>
      <Missing panel={panel} />
      <Pending panel={panel} runs={pendingRuns(notebook)} />
    </>
  );
  if (!connection) {
    return (
      <>
        <OtherNotebooks />
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
  const { tracker } = useServices();
  useSignal(model.changed);
  const { state } = model;
  const isReady = state.link === 'ready';
  const pending = <React.Fragment key="pending">{props.pending}</React.Fragment>;
  const runs = isReady && (
    <KernelRuns
      key="runs"
      connection={connection}
      state={state}
      queued={queuedPrompts(tracker.currentWidget, state)}
    />
  );
  // What runs, and its Stop, stand above results that wait: there may be a dozen after an exploration.
  const run = currentRun(state);
  const runsNow = isReady && run !== null && isRunning(run);
  return (
    <>
      <Proposals connection={connection} />
      <OtherNotebooks except={connection.kernel.id} />
      {runsNow ? [runs, pending] : [pending, runs]}
      <LinkNotice connection={connection} state={state} />
      {isReady && <Footer connection={connection} state={state} />}
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
          <p>
            {trans.__('The code agent is not loaded in this notebook’s kernel. To load it, run in a cell:')}
          </p>
          <pre className="jp-CodeAgent-plain">%load_ext jupyter_codeagent</pre>
          <Button onClick={() => connection.retry()}>{trans.__('Refresh')}</Button>
        </Empty>
      );
    case 'failed':
      return (
        <>
          <Problem>{trans.__('The kernel cannot be reached: %1', state.problem)}</Problem>
          <Button onClick={() => connection.retry()}>{trans.__('Try again')}</Button>
        </>
      );
  }
}

function Footer(props: { connection: KernelConnection; state: IAgentState }): JSX.Element {
  const { trans } = useServices();
  const { connection, state } = props;
  const run = currentRun(state);
  const modelName = state.model || (run?.request.server ? run.request.model : ''); // none without a server
  return (
    <>
      <Grants connection={connection} />
      <div className="jp-CodeAgent-footer">
        <ReportButton connection={connection} state={state} />
        <div className="jp-CodeAgent-quiet">
          {modelName ? trans.__('Model: %1', modelName) : trans.__('Model: chosen at the first run')} ·{' '}
          {trans.__('approval: %1', approvalLabel(trans, state.approve))}
        </div>
      </div>
    </>
  );
}
