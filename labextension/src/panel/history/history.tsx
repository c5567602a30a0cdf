import React, { useCallback, useEffect, useMemo, useRef, useState } from 'react';

import { formatCount } from '../../common/format';
import type { IRunFilter } from '../../history/client';
import { localPath } from '../../notebook/panels';
import { Button, Empty, Problem } from '../controls/basics';
import { useRemembered, useServices, useSignal } from '../services';
import { Comparison } from './comparison';
import { HistoryFilters } from './historyfilters';
import { RunDetail } from './rundetail';
import { RunListBox } from './runlistbox';

/** In the state database. */
const HERE = 'history-here';

/** All runs of all notebooks; works without any kernel. `version` changes when there is something new. */
export function History(props: { version: number }): JSX.Element {
  const { runs, historyActions } = useServices();
  useSignal(runs.changed);
  const [problem, setProblem] = useState('');
  const { view } = runs;
  // Where the user went from one view to another the keyboard goes along; by the tabs alone it stays on the tab.
  const went = useRef(false);
  const show = (next: typeof view): void => {
    went.current = true;
    runs.view = next;
  };
  const back = (): void => show({ kind: 'list' });
  useEffect(() => void runs.refresh(), [runs, props.version]);
  const compare = (left: string, right: string): void => {
    setProblem('');
    show({ kind: 'run', id: left });
    historyActions.compare(left, right).catch((error: Error) => setProblem(error.message));
  };
  switch (view.kind) {
    case 'run':
      return (
        <>
          {problem && <Problem>{problem}</Problem>}
          <RunDetail
            key={view.id}
            runId={view.id}
            version={props.version}
            focus={went.current}
            onBack={back}
            onCompare={compare}
          />
        </>
      );
    case 'compare':
      return <Comparison left={view.left} right={view.right} onBack={back} />;
    case 'choose':
      return (
        <List
          focus={true}
          chooseFor={view.prompt}
          onOpen={id => compare(view.id, id)}
          onCancel={() => show({ kind: 'run', id: view.id })}
        />
      );
    case 'list':
      return <List focus={went.current} onOpen={id => show({ kind: 'run', id })} />;
  }
}

function List(props: {
  /** Put the keyboard into the list when it is opened. */
  focus: boolean;
  /** Prompt of the run that the next one is compared with. */
  chooseFor?: string;
  onOpen: (runId: string) => void;
  onCancel?: () => void;
}): JSX.Element {
  const { trans, runs, historyActions } = useServices();
  const { state } = runs;
  const { filter, overview } = state;
  const [notDeleted, setNotDeleted] = useState('');
  // Once: a list that is empty for a moment, while a search is typed, must not take the keyboard when it is back.
  const [focus, setFocus] = useState(props.focus);
  useEffect(() => setFocus(false), []);
  const deleteMany = (): void => {
    setNotDeleted('');
    historyActions.deleteMany(filter.notebook).catch((error: Error) => setNotDeleted(error.message));
  };
  const change = useCallback(
    (changed: IRunFilter): void => void runs.setFilter({ ...runs.state.filter, ...changed }),
    [runs]
  );
  const here = useHere(change);
  const words = useMemo(() => (filter.search ?? '').split(/\s+/).filter(Boolean), [filter.search]);
  const narrowed = Object.values(filter).some(Boolean);
  const total = overview?.times.length ?? 0;
  return (
    <div className="jp-CodeAgent-history">
      {props.chooseFor !== undefined && (
        <div className="jp-CodeAgent-choose" role="status">
          <span>{trans.__('Choose the run to compare with “%1”.', props.chooseFor)}</span>
          <Button onClick={() => props.onCancel?.()}>{trans.__('Cancel')}</Button>
        </div>
      )}
      <HistoryFilters filter={filter} overview={overview} onChange={change} here={here} />
      {state.problem && (
        <Problem>
          {state.problem} <Button onClick={() => void runs.refresh()}>{trans.__('Try again')}</Button>
        </Problem>
      )}
      {notDeleted && <Problem>{notDeleted}</Problem>}
      {overview && total > 0 && (
        <div className="jp-CodeAgent-runCount">
          <span role="status" className="jp-CodeAgent-quiet">
            {trans._n('%1 run', '%1 runs', total).replace(String(total), formatCount(total))}
          </span>
          <Button onClick={deleteMany}>
            {filter.notebook ? trans.__('Delete this notebook’s runs …') : trans.__('Delete all …')}
          </Button>
        </div>
      )}
      {overview && total === 0 && !state.problem && (
        <Empty>
          {narrowed
            ? trans.__('No runs match.')
            : trans.__('No runs yet. What you ask the agent is listed here.')}{' '}
          {narrowed && (
            <Button
              onClick={() => {
                here.onChange(false);
                void runs.setFilter({});
              }}
            >
              {trans.__('Show all runs')}
            </Button>
          )}
        </Empty>
      )}
      {total > 0 && (
        <RunListBox
          list={runs}
          state={state}
          words={words}
          focus={focus}
          onOpen={run => props.onOpen(run.id)}
        />
      )}
    </div>
  );
}

/** The switch to the notebook in front; remembered, and it follows the user to the next notebook. */
function useHere(change: (filter: IRunFilter) => void): {
  notebook: string;
  on: boolean;
  onChange: (on: boolean) => void;
} {
  const { tracker, memory, runs } = useServices();
  useSignal(tracker.currentChanged);
  const notebook = localPath(tracker.currentWidget);
  const on = useRemembered(HERE) === 'yes';
  useEffect(() => {
    if (on && notebook && runs.state.filter.notebook !== notebook) {
      change({ notebook });
    }
  }, [on, notebook, runs, change]);
  const onChange = (wanted: boolean): void => {
    memory.set(HERE, wanted ? 'yes' : '');
    if (!wanted) {
      change({ notebook: '' });
    }
  };
  return { notebook, on, onChange };
}
