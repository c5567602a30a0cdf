import { Dialog, showDialog } from '@jupyterlab/apputils';
import React, { useEffect, useState } from 'react';

import { formatTime } from '../format';
import type { IRun } from '../record';
import { isRunning } from '../record';
import { Button, Code, Problem, Section } from './basics';
import { Outputs } from './outputs';
import { Run } from './run';
import { useServices, useSignal } from './services';

/** One run of the history, whole, and what can be done with it. */
export function RunDetail(props: { runId: string; onBack: () => void }): JSX.Element {
  const { trans, history, tracker, decisions, connections } = useServices();
  const { runId, onBack } = props;
  const current = connections.current;
  // Only the kernel that made the run may still have its results.
  const connection = current?.model.state.runs.some(known => known.id === runId) ? current : null;
  useSignal(connection?.model.changed);
  const [run, setRun] = useState<IRun | null>(null);
  const [problem, setProblem] = useState('');

  useEffect(() => {
    let wanted = true;
    history.get(runId).then(
      found => wanted && setRun(found),
      (error: Error) => wanted && setProblem(error.message)
    );
    return () => {
      wanted = false;
    };
  }, [history, runId]);

  const attempt = (act: () => Promise<void>): void => {
    setProblem('');
    act().catch((error: Error) => setProblem(error.message));
  };
  const insertAgain = async (): Promise<void> => {
    const panel = tracker.currentWidget;
    if (!panel) {
      throw new Error(trans.__('Open a notebook first: the cells go below its active cell.'));
    }
    await decisions.insertAgain(panel, await history.cells(runId));
  };
  const exportAs = async (format: 'ipynb' | 'py'): Promise<void> =>
    download(await history.export(runId, format), `codeagent-${runId}.${format}`);
  const remove = async (): Promise<void> => {
    const answer = await showDialog({
      title: trans.__('Delete this run from the history?'),
      body: trans.__('Its cells stay in your notebooks. The record of what was sent and run is lost.'),
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.warnButton({ label: trans.__('Delete') })
      ],
      defaultButton: 0
    });
    if (answer.button.accept) {
      await history.delete(runId);
      onBack();
    }
  };

  return (
    <>
      <div className="jp-CodeAgent-line">
        <Button onClick={onBack}>{trans.__('← All runs')}</Button>
        {run && <span className="jp-CodeAgent-quiet">{formatTime(run.started_at)}</span>}
      </div>
      {problem && <Problem>{problem}</Problem>}
      {run && (
        <>
          <div className="jp-CodeAgent-buttons jp-CodeAgent-actions">
            {run.code && (
              <Button kind="primary" onClick={() => attempt(insertAgain)}>
                {trans.__('Insert again')}
              </Button>
            )}
            <Button onClick={() => attempt(() => exportAs('ipynb'))}>{trans.__('Export .ipynb')}</Button>
            <Button onClick={() => attempt(() => exportAs('py'))}>{trans.__('Export .py')}</Button>
            {!isRunning(run) && <Button onClick={() => attempt(remove)}>{trans.__('Delete')}</Button>}
          </div>
          <Run
            run={run}
            pulls={connection?.model.state.pulls}
            onPull={connection ? name => connection.pull(run.id, name) : undefined}
          />
          {run.code && (
            <Section title={trans.__('Result')}>
              <Code code={run.code} label={trans.__('Final code')} copy />
              <Outputs outputs={run.outputs} />
            </Section>
          )}
          <p className="jp-CodeAgent-quiet">
            {[run.id, run.request.notebook, run.request.approve].filter(Boolean).join(' · ')}
          </p>
        </>
      )}
    </>
  );
}

function download(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
