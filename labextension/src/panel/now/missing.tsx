import type { NotebookPanel } from '@jupyterlab/notebook';
import React from 'react';

import { attempt } from '../../common/attempt';
import type { IMissingResult } from '../../history/runcells';
import { Button, Fold, Section } from '../controls/basics';
import { ResultPreview, useRecord } from '../run/resultpreview';
import { useServices, useSignal } from '../services';

/** The rest is folded: a notebook that was put back may have lost many. */
const MAX_DISPLAYED = 3;

/** Results in the history whose cells are not in the notebook: the page was loaded again before it was saved. */
export function Missing(props: { panel: NotebookPanel }): JSX.Element | null {
  const { trans, cellStates, historyActions, decisions } = useServices();
  useSignal(cellStates.changed);
  const { panel } = props;
  const missing = cellStates.missing(panel);
  if (missing.length === 0) {
    return null;
  }
  const insertAll = (): Promise<void> =>
    attempt(trans, trans.__('Insert all again'), async () => {
      for (const result of missing) {
        await historyActions.insertAgain(result, panel);
      }
    });
  const items = [...missing]
    .reverse()
    .map(result => <MissingItem key={result.id} panel={panel} result={result} />);
  return (
    <Section title={trans.__('Not in the notebook')}>
      <p className="jp-CodeAgent-quiet">
        {trans.__('In the history, but not in this notebook, which may not have been saved in time.')}
      </p>
      <ul className="jp-CodeAgent-pendingList">{items.slice(0, MAX_DISPLAYED)}</ul>
      {missing.length > 1 && (
        <div className="jp-CodeAgent-buttons">
          <Button kind="primary" onClick={() => void insertAll()}>
            {trans.__('Insert all again')}
          </Button>
          <Button
            title={trans.__('They stay in the history')}
            onClick={() => missing.forEach(result => decisions.discardMissing(panel, result.id))}
          >
            {trans.__('Discard all')}
          </Button>
        </div>
      )}
      {items.length > MAX_DISPLAYED && (
        <Fold summary={trans.__('%1 more', items.length - MAX_DISPLAYED)}>
          <ul className="jp-CodeAgent-pendingList">{items.slice(MAX_DISPLAYED)}</ul>
        </Fold>
      )}
    </Section>
  );
}

function MissingItem(props: { panel: NotebookPanel; result: IMissingResult }): JSX.Element {
  const { trans, historyActions, decisions } = useServices();
  const { panel, result } = props;
  const run = useRecord(result.id);
  const label = trans.__('Insert again');
  return (
    <li>
      <div className="jp-CodeAgent-itemQuestion">{result.prompt}</div>
      {run && <ResultPreview run={run} />}
      <div className="jp-CodeAgent-buttons">
        <Button
          kind="primary"
          title={trans.__('Below its question or, if that is gone, below the active cell')}
          onClick={() => void attempt(trans, label, () => historyActions.insertAgain(result, panel))}
        >
          {label}
        </Button>
        <Button
          title={trans.__('It stays in the history')}
          onClick={() => decisions.discardMissing(panel, result.id)}
        >
          {trans.__('Discard')}
        </Button>
      </div>
    </li>
  );
}

/** One quiet line at a run whose cells are not in the notebook, whatever was decided over them. */
export function MissingCells(props: { run: IMissingResult }): JSX.Element {
  const { trans, tracker, historyActions } = useServices();
  const label = trans.__('Insert again');
  const insert = (): Promise<void> =>
    attempt(trans, label, () => historyActions.insertAgain(props.run, tracker.currentWidget ?? undefined));
  return (
    <p className="jp-CodeAgent-quiet jp-CodeAgent-gone">
      {trans.__('Its cells are not in the notebook.')}{' '}
      <button type="button" className="jp-CodeAgent-textLink" onClick={() => void insert()}>
        {label}
      </button>
    </p>
  );
}
