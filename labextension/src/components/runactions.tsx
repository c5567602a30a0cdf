import React, { useState } from 'react';

import type { IRun } from '../record';
import { isRunning } from '../record';
import { Button, Problem } from './basics';
import { useServices } from './services';

/** Everything that can be done with a recorded run. */
export function RunActions(props: {
  run: IRun;
  onDeleted: () => void;
  /** Choose another run to compare this one with. */
  onChoose: () => void;
}): JSX.Element {
  const { trans, historyActions: actions } = useServices();
  const { run } = props;
  const [problem, setProblem] = useState('');
  const [asking, setAsking] = useState(false);
  const attempt = (act: () => Promise<unknown>): void => {
    setProblem('');
    act().catch((error: Error) => setProblem(error.message));
  };
  const remove = async (): Promise<void> => {
    if (await actions.deleteRun(run)) {
      props.onDeleted();
    }
  };
  return (
    <>
      <div
        role="group"
        aria-label={trans.__('Actions')}
        className="jp-CodeAgent-buttons jp-CodeAgent-actions"
      >
        {run.code && (
          <Button
            kind="primary"
            onClick={() => attempt(() => actions.insertAgain({ id: run.id, cellId: run.request.cell_id }))}
          >
            {trans.__('Insert again')}
          </Button>
        )}
        {run.request.notebook && (
          <Button onClick={() => attempt(() => actions.openAtCell(run))} title={run.request.notebook}>
            {trans.__('Open notebook')}
          </Button>
        )}
        <Button onClick={() => setAsking(!asking)}>{trans.__('Ask another model')}</Button>
        <Button onClick={props.onChoose}>{trans.__('Compare with …')}</Button>
        <Button onClick={() => attempt(() => actions.export(run.id, 'ipynb'))}>
          {trans.__('Export .ipynb')}
        </Button>
        <Button onClick={() => attempt(() => actions.export(run.id, 'py'))}>{trans.__('Export .py')}</Button>
        {!isRunning(run) && (
          <Button kind="danger" onClick={() => attempt(remove)}>
            {trans.__('Delete')}
          </Button>
        )}
      </div>
      {problem && <Problem>{problem}</Problem>}
      {asking && (
        <AskAgain
          run={run}
          onCancel={() => setAsking(false)}
          onAsk={(model, fresh) =>
            attempt(async () => {
              await actions.askAgain(run, model, fresh);
              setAsking(false);
            })
          }
        />
      )}
    </>
  );
}

function AskAgain(props: {
  run: IRun;
  onAsk: (model: string, fresh: boolean) => void;
  onCancel: () => void;
}): JSX.Element {
  const { trans, runs } = useServices();
  const [model, setModel] = useState('');
  const [fresh, setFresh] = useState(true);
  const known = (runs.state.overview?.models ?? []).map(one => one.name);
  const name = model.trim();
  return (
    <form
      className="jp-CodeAgent-askAgain"
      aria-label={trans.__('Ask another model')}
      onSubmit={event => {
        event.preventDefault();
        if (name) {
          props.onAsk(name, fresh);
        }
      }}
    >
      <label htmlFor="jp-CodeAgent-askAgainModel">{trans.__('Ask the same of')}</label>
      <input
        id="jp-CodeAgent-askAgainModel"
        className="jp-CodeAgent-input"
        list="jp-CodeAgent-knownModels"
        value={model}
        placeholder={trans.__('Name of a model')}
        autoFocus
        spellCheck={false}
        onChange={event => setModel(event.target.value)}
      />
      <datalist id="jp-CodeAgent-knownModels">
        {known
          .filter(one => one !== props.run.request.model)
          .map(one => (
            <option key={one} value={one} />
          ))}
      </datalist>
      <label className="jp-CodeAgent-check">
        <input type="checkbox" checked={fresh} onChange={event => setFresh(event.target.checked)} />
        {trans.__(
          'Forget this notebook’s earlier questions first, so that the model cannot see the first answer'
        )}
      </label>
      <p className="jp-CodeAgent-quiet">
        {trans.__(
          'A new %1 cell goes below the first answer, or below the active cell, and runs.',
          '%%agent'
        )}
      </p>
      <div className="jp-CodeAgent-buttons">
        <Button onClick={props.onCancel}>{trans.__('Cancel')}</Button>
        <button type="submit" className="jp-CodeAgent-button jp-mod-primary" disabled={!name}>
          {trans.__('Insert and run')}
        </button>
      </div>
    </form>
  );
}
