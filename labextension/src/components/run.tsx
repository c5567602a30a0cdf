import React, { useEffect, useReducer } from 'react';

import { formatBytes, formatSeconds, formatTokens } from '../format';
import type { IProgress, IPull } from '../model';
import type { IRun } from '../record';
import { isRunning } from '../record';
import { cellStateWord, phaseWord, runStatusWord } from '../words';
import { Button, Chip, Fold, Problem } from './basics';
import { Results } from './results';
import { useServices } from './services';
import { Steps } from './steps';

/** One run whole: under way or from the history. */
export function Run(props: {
  run: IRun;
  progress?: IProgress;
  pulls?: Readonly<Record<string, IPull>>;
  onStop?: () => void;
  onPull?: (name: string) => void;
}): JSX.Element {
  const { trans } = useServices();
  const { run, progress } = props;
  const running = isRunning(run);
  return (
    <article className="jp-CodeAgent-run" aria-label={trans.__('Run')}>
      <div className="jp-CodeAgent-prompt">{run.request.prompt}</div>
      <div className="jp-CodeAgent-line">
        <Chip kind={run.status}>{runStatusWord(trans, run.status)}</Chip>
        {run.status === 'ok' && <Chip kind={run.cell_state}>{cellStateWord(trans, run.cell_state)}</Chip>}
        <Elapsed run={run} progress={progress} />
        {running && props.onStop && (
          <Button kind="danger" onClick={props.onStop} label={trans.__('Stop this run')}>
            {trans.__('Stop')}
          </Button>
        )}
      </div>
      <div className="jp-CodeAgent-quiet">
        {run.request.model} · {formatTokens(trans, (running && progress?.usage) || run.usage)}
      </div>
      {running && (
        <div role="status" aria-live="polite" className="jp-CodeAgent-phase">
          {phaseWord(trans, progress?.phase ?? 'context')}
        </div>
      )}
      {running && progress?.text && progress.phase !== 'ended' && <Stream text={progress.text} />}
      {run.error && <Problem>{run.error}</Problem>}
      <Steps run={run} />
      {run.answer && <div className="jp-CodeAgent-answer">{run.answer}</div>}
      <Results run={run} pulls={props.pulls} onPull={running ? undefined : props.onPull} />
      {run.notes.map(note => (
        <p key={note} className="jp-CodeAgent-quiet">
          {note}
        </p>
      ))}
      <Sent run={run} />
    </article>
  );
}

/** The reply as it grows; the end stays in sight. */
function Stream(props: { text: string }): JSX.Element {
  const { trans } = useServices();
  const scrollToEnd = (pre: HTMLPreElement | null): void => {
    if (pre) {
      pre.scrollTop = pre.scrollHeight;
    }
  };
  return (
    <pre
      className="jp-CodeAgent-stream"
      tabIndex={0}
      aria-label={trans.__('Reply of the model so far')}
      ref={scrollToEnd}
    >
      {props.text}
    </pre>
  );
}

function Elapsed(props: { run: IRun; progress?: IProgress }): JSX.Element | null {
  const { run, progress } = props;
  const running = isRunning(run);
  const [, tick] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const timer = running ? window.setInterval(tick, 1000) : 0;
    return () => window.clearInterval(timer);
  }, [running]);
  if (!running) {
    return run.ended_at === null ? null : <span>{formatSeconds(run.ended_at - run.started_at)}</span>;
  }
  const since = progress ? (Date.now() - progress.receivedAt) / 1000 : 0;
  return progress ? <span>{formatSeconds(progress.elapsed_s + since)}</span> : null;
}

/** What left the kernel: copies into the sandbox, text to the model. */
function Sent(props: { run: IRun }): JSX.Element {
  const { trans } = useServices();
  const { manifest, context, request, sandbox } = props.run;
  const total = manifest.copied.reduce((sum, item) => sum + item.size_bytes, 0);
  return (
    <>
      <Fold
        summary={trans.__('Copied into the sandbox: %1 (%2)', manifest.copied.length, formatBytes(total))}
      >
        <ul className="jp-CodeAgent-list">
          {manifest.copied.map(item => (
            <li key={item.name}>
              <code>{item.name}</code> {item.type_name}{' '}
              <span className="jp-CodeAgent-quiet">{formatBytes(item.size_bytes)}</span>
            </li>
          ))}
          {manifest.skipped.map(item => (
            <li key={item.name}>
              <code>{item.name}</code> <span className="jp-CodeAgent-quiet">{trans.__('not copied:')}</span>{' '}
              {item.reason}
            </li>
          ))}
        </ul>
        {sandbox && <p className="jp-CodeAgent-quiet">{trans.__('Sandbox: %1', sandbox)}</p>}
      </Fold>
      {context && (
        <Fold summary={trans.__('Told the model about your variables')}>
          <p className="jp-CodeAgent-quiet">
            {request.remote
              ? trans.__('Sent to %1, on another machine', request.server ?? '')
              : trans.__('Sent to %1, on this machine', request.server || request.model)}
          </p>
          <pre className="jp-CodeAgent-plain" tabIndex={0}>
            {context}
          </pre>
        </Fold>
      )}
    </>
  );
}
