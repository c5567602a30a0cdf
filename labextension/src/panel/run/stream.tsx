import React, { useEffect, useRef } from 'react';

import type { IProgress } from '../../comm/progress';
import { formatCount } from '../../common/format';
import { CodeView } from '../controls/codeview';
import { useServices } from '../services';
import { roughTokens, splitReply } from './reply';

/** The reply as it grows: prose above, code in colours below; the end stays in sight. */
export function Stream(props: { progress: IProgress }): JSX.Element | null {
  const { trans } = useServices();
  const { phase, text } = props.progress;
  if (!text) {
    return null;
  }
  // What runs in the sandbox or waits is code alone.
  const { prose, code } = phase === 'model' ? splitReply(text) : { prose: '', code: text };
  return (
    <div className="jp-CodeAgent-stream">
      {prose && <Prose text={prose} />}
      {code && <CodeView code={code} label={trans.__('Code of the model so far')} follow />}
    </div>
  );
}

function Prose(props: { text: string }): JSX.Element {
  const { trans } = useServices();
  const node = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (node.current && atEnd.current) {
      node.current.scrollTop = node.current.scrollHeight;
    }
  }, [props.text]);
  return (
    <div
      ref={node}
      className="jp-CodeAgent-prose"
      tabIndex={0}
      role="group"
      aria-label={trans.__('What the model has written so far')}
      onScroll={event => {
        const { scrollHeight, scrollTop, clientHeight } = event.currentTarget;
        atEnd.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
    >
      {props.text}
    </div>
  );
}

/** How fast the model writes, by the length of its text: exact counts come with the end of a reply. */
export function GenerationSpeed(props: { progress: IProgress }): JSX.Element | null {
  const { trans } = useServices();
  const { phase, text, elapsed_s: elapsedSeconds, step } = props.progress;
  const key = `${phase} ${step}`;
  const start = useRef({ key: '', elapsedSeconds: 0, tokens: 0 });
  const tokens = roughTokens(text);
  if (start.current.key !== key || tokens < start.current.tokens) {
    start.current = { key, elapsedSeconds, tokens };
  }
  if (phase !== 'model' || tokens === 0) {
    return null;
  }
  const seconds = elapsedSeconds - start.current.elapsedSeconds;
  const rate = (tokens - start.current.tokens) / Math.max(seconds, 0.001);
  return (
    <span className="jp-CodeAgent-figure">
      {seconds >= 1
        ? trans.__('≈ %1 tokens · %2 per second', formatCount(tokens), Math.round(rate))
        : trans.__('≈ %1 tokens', formatCount(tokens))}
    </span>
  );
}
