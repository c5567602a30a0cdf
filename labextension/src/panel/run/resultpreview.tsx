import React, { useEffect, useState } from 'react';

import type { IRun } from '../../protocol/run';
import { useServices } from '../services';
import { previewOf } from './previewcontent';

/** What a run found, small: its first picture or the beginning of its first table or text, and its sentence. */
export function ResultPreview(props: { run: IRun }): JSX.Element | null {
  const { trans } = useServices();
  const { outputs, answer } = props.run;
  const preview = previewOf(outputs);
  if (!preview && !answer) {
    return null;
  }
  return (
    <div className="jp-CodeAgent-preview">
      {preview?.kind === 'image' && <img src={preview.src} alt={trans.__('First picture of the result')} />}
      {preview?.kind === 'text' && (
        <>
          <pre tabIndex={0} role="group" aria-label={trans.__('Beginning of the result')}>
            {preview.text}
          </pre>
          {preview.more > 0 && (
            <div className="jp-CodeAgent-quiet">
              {trans._n('… one more line', '… %1 more lines', preview.more)}
            </div>
          )}
        </>
      )}
      {answer && <div className="jp-CodeAgent-answer">{answer}</div>}
    </div>
  );
}

/** The record of a run, from the kernel or else from the history; null while it is read, and where there is none. */
export function useRecord(runId: string): IRun | null {
  const { connections, history, cellStates } = useServices();
  const live = connections.current?.model.state.runs.find(run => run.id === runId);
  const [read, setRead] = useState<IRun | null>(null);
  const isMissing = live === undefined && cellStates.isRecorded(runId);
  useEffect(() => {
    let wanted = isMissing;
    if (isMissing) {
      // Deleted meanwhile, or the server has gone: the card does without it.
      history.get(runId).then(
        run => wanted && setRead(run),
        () => wanted && setRead(null)
      );
    }
    return () => {
      wanted = false;
    };
  }, [history, runId, isMissing]);
  return live ?? read;
}
