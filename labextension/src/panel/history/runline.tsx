import React, { memo } from 'react';

import { formatClock, formatSeconds, formatShort } from '../../common/format';
import type { IRunLine } from '../../history/client';
import { OutcomeLabel, outcomeLabel, useOutcome } from '../run/outcome';
import { useServices } from '../services';
import { highlight } from './listlayout';

/** One run as three lines of text; the third is where a search found something that the prompt does not have. */
export const RunLine = memo(function RunLine(props: {
  run: IRunLine;
  words: readonly string[];
}): JSX.Element {
  const { trans } = useServices();
  const { run, words } = props;
  const outcome = useOutcome()(run);
  const tokens = run.prompt_tokens + run.completion_tokens;
  const duration = run.ended_at === null ? '' : formatSeconds(run.ended_at - run.started_at);
  return (
    <>
      <div className="jp-CodeAgent-runPrompt" title={run.prompt}>
        <Highlighted text={run.prompt} words={words} />
      </div>
      <div className="jp-CodeAgent-runFacts">
        <OutcomeLabel outcome={outcome} />
        <span>{formatClock(run.started_at)}</span>
        {duration && <span>{duration}</span>}
        {tokens > 0 && <span>{trans.__('%1 tokens', formatShort(tokens))}</span>}
      </div>
      {run.excerpt ? (
        <code className="jp-CodeAgent-runWhere">
          <Highlighted text={run.excerpt} words={words} />
        </code>
      ) : (
        <div className="jp-CodeAgent-runWhere" title={run.error || run.notebook || ''}>
          {run.error && outcome === 'failed'
            ? run.error
            : [baseName(run.notebook), run.model].filter(Boolean).join(' · ')}
        </div>
      )}
    </>
  );
});

function Highlighted(props: { text: string; words: readonly string[] }): JSX.Element {
  return (
    <>
      {highlight(props.text, props.words).map((piece, i) =>
        piece.hit ? <mark key={i}>{piece.text}</mark> : <React.Fragment key={i}>{piece.text}</React.Fragment>
      )}
    </>
  );
}

function baseName(path: string | null): string {
  return path?.split('/').pop() ?? '';
}

/** A run in one sentence, for screen readers. */
export function useRunName(): (run: IRunLine) => string {
  const { trans } = useServices();
  const outcomeOf = useOutcome();
  return run =>
    [
      run.prompt,
      outcomeLabel(trans, outcomeOf(run)),
      new Date(run.started_at * 1000).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' }),
      run.model,
      baseName(run.notebook)
    ]
      .filter(Boolean)
      .join(', ');
}
