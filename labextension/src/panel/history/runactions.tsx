import type { TranslationBundle } from '@jupyterlab/translation';
import { notebookIcon } from '@jupyterlab/ui-components';
import React, { useState } from 'react';

import type { IRun } from '../../protocol/run';
import { isRunning } from '../../protocol/run';
import { Button, Problem } from '../controls/basics';
import { type IMenuAction, MenuButton } from '../controls/menubutton';
import { useServices } from '../services';

/** Everything that can be done with a recorded run, in one row: back, what is wanted most, and a menu. */
export function RunActions(props: {
  /** Null until it is read. */
  run: IRun | null;
  onBack: () => void;
  /** Choose another run to compare this one with. */
  onChoose: () => void;
}): JSX.Element {
  const { trans, historyActions: actions } = useServices();
  const { run, onBack } = props;
  const [problem, setProblem] = useState('');
  const [asking, setAsking] = useState(false);
  const attempt = (act: () => Promise<unknown>): void => {
    setProblem('');
    act().catch((error: Error) => setProblem(error.message));
  };
  return (
    <>
      <div role="group" aria-label={trans.__('Actions')} className="jp-CodeAgent-runTop">
        <Button onClick={onBack} label={trans.__('All runs')} title={trans.__('Back to the list (Escape)')}>
          ←
        </Button>
        {run?.code && (
          <Button
            kind="primary"
            onClick={() => attempt(() => actions.insertAgain({ id: run.id, cellId: run.request.cell_id }))}
          >
            {trans.__('Insert again')}
          </Button>
        )}
        {run?.request.notebook && (
          <Button
            icon={notebookIcon}
            iconOnly
            title={trans.__('Open %1', run.request.notebook)}
            label={trans.__('Open notebook')}
            onClick={() => attempt(() => actions.openAtCell(run))}
          >
            {trans.__('Open notebook')}
          </Button>
        )}
        {run && (
          <MenuButton
            actions={menuOf(trans, run, {
              ask: () => setAsking(!asking),
              compare: props.onChoose,
              export: format => attempt(() => actions.export(run.id, format)),
              remove: () => attempt(async () => (await actions.deleteRun(run)) && onBack())
            })}
          />
        )}
      </div>
      {problem && <Problem>{problem}</Problem>}
      {run && asking && (
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

function menuOf(
  trans: TranslationBundle,
  run: IRun,
  does: {
    ask: () => void;
    compare: () => void;
    export: (format: 'ipynb' | 'py') => void;
    remove: () => void;
  }
): (IMenuAction | null)[] {
  return [
    { label: trans.__('Ask another model'), act: does.ask },
    { label: trans.__('Compare with …'), act: does.compare },
    null,
    { label: trans.__('Export .ipynb'), act: () => does.export('ipynb') },
    { label: trans.__('Export .py'), act: () => does.export('py') },
    ...(isRunning(run) ? [] : [null, { label: trans.__('Delete'), act: does.remove }])
  ];
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
      <label htmlFor="jp-CodeAgent-askAgainModel">{trans.__('Ask the same question of')}</label>
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
