import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { lineDiff } from '../../common/linediff';

/** What changed, line by line: with signs, for not everybody sees the colours. */
export function Diff(props: {
  trans: TranslationBundle;
  before: string;
  after: string;
  label: string;
}): JSX.Element {
  const { trans } = props;
  const lines = lineDiff(props.before, props.after);
  return (
    <pre className="jp-CodeAgent-diff" tabIndex={0} role="group" aria-label={props.label}>
      {lines.every(line => line.sign === ' ') && (
        <span className="jp-CodeAgent-quiet">{trans.__('The code is the same as before.')}</span>
      )}
      {lines.map((line, i) => (
        <span key={i} className="jp-CodeAgent-diffLine" data-sign={line.sign}>
          {`${line.sign} ${line.text}\n`}
        </span>
      ))}
    </pre>
  );
}
