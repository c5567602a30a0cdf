import { NotebookActions } from '@jupyterlab/notebook';
import React from 'react';

import type { IAgentState } from '../../comm/agentstate';
import type { KernelConnection } from '../../comm/connection';
import { attempt } from '../../common/attempt';
import { hasKept } from '../../notebook/cellstates';
import { sharedNotebook } from '../../notebook/panels';
import { findBlocker } from '../../prompts/askcell';
import { reportRequest, saveAndReport } from '../../prompts/reportcell';
import { Button } from '../controls/basics';
import { Stop } from '../run/stop';
import { useServices, useSignal } from '../services';

/** *Report*, once a result is kept; *Stop* while one is made. */
export function ReportButton(props: {
  connection: KernelConnection;
  state: IAgentState;
}): JSX.Element | null {
  const { trans, tracker } = useServices();
  useSignal(NotebookActions.executionScheduled);
  useSignal(NotebookActions.executed);
  const panel = tracker.currentWidget;
  const notebook = sharedNotebook(panel);
  if (!panel || !notebook || findBlocker(panel, props.state) !== null) {
    return null;
  }
  if (reportRequest(panel) !== null) {
    // Asked for again when it is pressed: the request has its id a moment after the cell was started.
    const stop = (): void => void props.connection.send({ type: 'stop', run_id: reportRequest(panel) ?? '' });
    return <Stop text={trans.__('Stop the report')} onStop={stop} />;
  }
  if (!hasKept(notebook)) {
    return null;
  }
  return (
    <Button
      title={trans.__('Save the notebook and make a report of the accepted results, as one page')}
      onClick={() => void attempt(trans, trans.__('Report'), () => saveAndReport(panel))}
    >
      {trans.__('Report')}
    </Button>
  );
}
