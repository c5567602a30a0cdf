import React, { useEffect, useReducer } from 'react';

import type { IProgress } from '../../comm/progress';
import { elapsedSeconds } from '../../comm/progress';
import { formatSeconds } from '../../common/format';
import type { IRun } from '../../protocol/run';
import { isRunning } from '../../protocol/run';

/** How long a run has taken; counts while it is under way. */
export function Elapsed(props: { run: IRun; progress?: IProgress }): JSX.Element | null {
  const { run, progress } = props;
  const running = isRunning(run);
  const [, tick] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const timer = running ? window.setInterval(tick, 1000) : 0;
    return () => window.clearInterval(timer);
  }, [running]);
  if (running) {
    // Read aloud every second it would drown everything else.
    return progress ? (
      <span className="jp-CodeAgent-figure" aria-live="off">
        {formatSeconds(Math.floor(elapsedSeconds(progress, Date.now())), 0)}
      </span>
    ) : null;
  }
  return run.ended_at === null ? null : (
    <span className="jp-CodeAgent-figure">{formatSeconds(run.ended_at - run.started_at)}</span>
  );
}
