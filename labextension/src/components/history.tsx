import React, { useCallback, useEffect, useRef, useState } from 'react';

import { formatTime, formatTokens } from '../format';
import type { IRunLine, IRunPage } from '../history';
import { cellStateWord, runStatusWord } from '../words';
import { Button, Chip, Empty, Problem } from './basics';
import { RunDetail } from './rundetail';
import { useServices } from './services';

const PAGE = 30;
const TYPING_MS = 250;

/** All runs of all notebooks; works without any kernel. */
export function History(props: { version: number }): JSX.Element {
  const [selected, setSelected] = useState<string | null>(null);
  const [search, setSearch] = useState('');
  if (selected !== null) {
    return <RunDetail runId={selected} onBack={() => setSelected(null)} />;
  }
  return <RunList search={search} onSearch={setSearch} onSelect={setSelected} version={props.version} />;
}

function RunList(props: {
  search: string;
  onSearch: (text: string) => void;
  onSelect: (runId: string) => void;
  version: number;
}): JSX.Element {
  const { trans } = useServices();
  const { page, problem, more } = useRuns(props.search, props.version);
  return (
    <>
      <input
        type="search"
        className="jp-CodeAgent-input"
        value={props.search}
        placeholder={trans.__('Search prompts and code')}
        aria-label={trans.__('Search the history')}
        onChange={event => props.onSearch(event.target.value)}
      />
      {problem && <Problem>{problem}</Problem>}
      {page && page.total === 0 && (
        <Empty>{props.search ? trans.__('No run matches.') : trans.__('No run yet.')}</Empty>
      )}
      {page && page.total > 0 && (
        <>
          <div role="status" className="jp-CodeAgent-quiet">
            {trans._n('%1 run', '%1 runs', page.total)}
          </div>
          <ul className="jp-CodeAgent-history">
            {page.runs.map(run => (
              <li key={run.id}>
                <RunLine run={run} onSelect={() => props.onSelect(run.id)} />
              </li>
            ))}
          </ul>
          {page.runs.length < page.total && <Button onClick={more}>{trans.__('More')}</Button>}
        </>
      )}
    </>
  );
}

function RunLine(props: { run: IRunLine; onSelect: () => void }): JSX.Element {
  const { trans } = useServices();
  const { run } = props;
  return (
    <button type="button" className="jp-CodeAgent-link" onClick={props.onSelect}>
      <span className="jp-CodeAgent-historyPrompt">{run.prompt}</span>
      <span className="jp-CodeAgent-line">
        <Chip kind={run.status}>{runStatusWord(trans, run.status)}</Chip>
        {run.status === 'ok' && <Chip kind={run.cell_state}>{cellStateWord(trans, run.cell_state)}</Chip>}
        <span className="jp-CodeAgent-quiet">{formatTime(run.started_at)}</span>
      </span>
      <span className="jp-CodeAgent-quiet">
        {[run.notebook?.split('/').pop(), run.model, formatTokens(trans, run)].filter(Boolean).join(' · ')}
      </span>
      {run.error && (
        <span className={run.status === 'failed' ? 'jp-CodeAgent-error' : 'jp-CodeAgent-quiet'}>
          {run.error}
        </span>
      )}
    </button>
  );
}

/** The runs that match, newest first, page by page; read again when `version` changes. */
function useRuns(
  search: string,
  version: number
): { page: IRunPage | null; problem: string; more: () => void } {
  const { history } = useServices();
  const [page, setPage] = useState<IRunPage | null>(null);
  const [problem, setProblem] = useState('');
  const latest = useRef(0);
  const shown = useRef(PAGE);

  const load = useCallback(
    async (limit: number): Promise<void> => {
      const request = ++latest.current;
      try {
        const answer = await history.list({ search, limit, offset: 0 });
        if (request === latest.current) {
          setPage(answer);
          setProblem('');
        }
      } catch (error) {
        if (request === latest.current) {
          setProblem((error as Error).message);
        }
      }
    },
    [history, search]
  );

  useEffect(() => {
    shown.current = PAGE;
  }, [search]);
  useEffect(() => {
    const timer = window.setTimeout(() => void load(shown.current), TYPING_MS);
    return () => window.clearTimeout(timer);
  }, [load, version]);
  useEffect(
    () => () => {
      latest.current++; // whatever is still under way is not wanted any more
    },
    []
  );
  const more = (): void => {
    void append();
  };
  const append = async (): Promise<void> => {
    const known = page?.runs ?? [];
    const request = ++latest.current;
    try {
      const answer = await history.list({ search, limit: PAGE, offset: known.length });
      if (request === latest.current) {
        const ids = new Set(known.map(run => run.id));
        const runs = [...known, ...answer.runs.filter(run => !ids.has(run.id))];
        shown.current = runs.length;
        setPage({ total: answer.total, runs });
      }
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return { page, problem, more };
}
