import React from 'react';

import { formatBytes } from '../format';
import type { IRun } from '../record';
import { Fold } from './basics';
import { useServices } from './services';

/** What left the kernel: copies into the sandbox, text to the model. */
export function Sent(props: { run: IRun }): JSX.Element {
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
