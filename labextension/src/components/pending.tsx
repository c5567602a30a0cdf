import React from 'react';

import type { NotebookPanel } from '@jupyterlab/notebook';

import type { IPendingRun } from '../notebook';
import { Button, Section } from './basics';
import { useServices } from './services';

/** Cells of the current notebook that wait for Accept, Edit or Discard. */
export function Pending(props: { panel: NotebookPanel; runs: readonly IPendingRun[] }): JSX.Element | null {
  const { trans, decisions } = useServices();
  const { panel, runs } = props;
  if (runs.length === 0) {
    return null;
  }
  return (
    <Section
      title={trans.__('Pending cells')}
      extra={
        <span className="jp-CodeAgent-buttons">
          <Button
            label={trans.__('Previous pending cell')}
            onClick={() => void decisions.revealPending(panel, -1)}
          >
            ↑
          </Button>
          <Button
            label={trans.__('Next pending cell')}
            onClick={() => void decisions.revealPending(panel, 1)}
          >
            ↓
          </Button>
        </span>
      }
    >
      <ul className="jp-CodeAgent-pendingList">
        {runs.map(run => (
          <PendingItem key={run.runId} panel={panel} run={run} />
        ))}
      </ul>
      {runs.length > 1 && (
        <div className="jp-CodeAgent-buttons">
          <Button onClick={() => decisions.discardAll(panel)}>{trans.__('Discard all')}</Button>
          <Button kind="primary" onClick={() => decisions.acceptAll(panel)}>
            {trans.__('Accept all')}
          </Button>
        </div>
      )}
    </Section>
  );
}

function PendingItem(props: { panel: NotebookPanel; run: IPendingRun }): JSX.Element {
  const { trans, decisions } = useServices();
  const { panel, run } = props;
  const first = run.cellIds[0];
  return (
    <li>
      <button
        type="button"
        className="jp-CodeAgent-link"
        title={trans.__('Show in the notebook')}
        onClick={() => void decisions.reveal(panel, first)}
      >
        <code>{firstLines(run.source)}</code>
        <span className="jp-CodeAgent-quiet">
          {run.roles.includes('code') && run.roles.includes('answer')
            ? trans.__('code and answer · %1', run.model)
            : run.model}
        </span>
      </button>
      <div className="jp-CodeAgent-buttons">
        <Button onClick={() => decisions.discard(panel, [run.runId])}>{trans.__('Discard')}</Button>
        <Button onClick={() => void decisions.edit(panel, first)}>{trans.__('Edit')}</Button>
        <Button kind="primary" onClick={() => decisions.accept(panel, run.runId)}>
          {trans.__('Accept')}
        </Button>
      </div>
    </li>
  );
}

function firstLines(source: string): string {
  const lines = source.split('\n').filter(line => line.trim() && !line.startsWith('import '));
  return (lines.length ? lines : source.split('\n')).slice(0, 2).join('\n');
}
