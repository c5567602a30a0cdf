import React, { useEffect, useState } from 'react';

import { Button } from '../controls/basics';
import { useServices } from '../services';

/** How long Stop may take: the sandbox is interrupted, then ended. */
const STOP_MS = 10_000;

/** The button that stops what runs, until it is gone; `label` where its text alone does not say what that is. */
export function Stop(props: { text: string; label?: string; onStop: () => void }): JSX.Element {
  const { trans } = useServices();
  const [stopping, setStopping] = useState<'no' | 'yes' | 'long'>('no');
  useEffect(() => {
    const timer = stopping === 'yes' ? window.setTimeout(() => setStopping('long'), STOP_MS) : 0;
    return () => window.clearTimeout(timer);
  }, [stopping]);
  return (
    <>
      <Button
        kind="danger"
        label={stopping === 'yes' ? undefined : props.label}
        disabled={stopping === 'yes'}
        onClick={() => {
          setStopping('yes');
          props.onStop();
        }}
      >
        {stopping === 'yes' ? trans.__('Stopping …') : props.text}
      </Button>
      {stopping === 'long' && (
        <p className="jp-CodeAgent-quiet">
          {trans.__('It has not stopped yet. Try again, or interrupt the notebook’s kernel.')}
        </p>
      )}
    </>
  );
}
