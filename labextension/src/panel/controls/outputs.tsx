import type { IOutput } from '@jupyterlab/nbformat';
import { OutputAreaModel, SimplifiedOutputArea } from '@jupyterlab/outputarea';
import { Widget } from '@lumino/widgets';
import React, { useLayoutEffect, useMemo, useRef } from 'react';

import { useServices } from '../services';
import { truncated } from './outputlimit';

/** Outputs as the notebook shows untrusted ones: sanitized, nothing in them is executed; long texts in part. */
export function Outputs(props: { outputs: readonly IOutput[] }): JSX.Element | null {
  const { rendermime, trans } = useServices();
  const host = useRef<HTMLDivElement>(null);
  // Each message brings new objects; only another content is worth drawing again.
  const content = useMemo(() => JSON.stringify(truncated(props.outputs, trans)), [props.outputs, trans]);
  // Not `useEffect`: its end comes after the node has left the page, and a detached widget cannot be disposed.
  useLayoutEffect(() => {
    if (!host.current) {
      return;
    }
    const model = new OutputAreaModel({ values: JSON.parse(content) as IOutput[], trusted: false });
    const area = new SimplifiedOutputArea({ model, rendermime });
    Widget.attach(area, host.current);
    return () => {
      area.dispose();
      model.dispose();
    };
  }, [content, rendermime]);
  return props.outputs.length ? <div ref={host} className="jp-CodeAgent-outputs" /> : null;
}
