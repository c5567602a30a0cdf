import React from 'react';

import { formatSeconds } from '../../common/format';
import type { IToolCall } from '../../protocol/run';
import { useServices } from '../services';

/** The user's functions that the code has called, with what came of each call. */
export function ToolCalls(props: {
  calls: readonly IToolCall[];
  /** Of how many these are the last; all of them by default. */
  count?: number;
}): JSX.Element | null {
  const { trans } = useServices();
  if (props.calls.length === 0) {
    return null;
  }
  const conclusion = (call: IToolCall): string =>
    ({
      ok: `→ ${call.result}`,
      failed: trans.__('failed: %1', call.result),
      undone: trans.__('undone'),
      denied: trans.__('not allowed'),
      refused: trans.__('not called: %1', call.result),
      stopped: trans.__('stopped before it returned; it may have taken effect')
    })[call.status];
  const took = (call: IToolCall): string => {
    if (call.earlier) {
      return trans.__('recorded result, not called again');
    }
    return call.status === 'ok' || call.status === 'failed' ? formatSeconds(call.duration_s) : '';
  };
  return (
    <div className="jp-CodeAgent-calls">
      <p className="jp-CodeAgent-quiet">
        {trans.__('Called in your kernel (%1)', props.count ?? props.calls.length)}
      </p>
      <ol>
        {props.calls.map((call, i) => (
          <li key={i} data-status={call.status}>
            <code>{call.call}</code> {conclusion(call)}
            <span className="jp-CodeAgent-quiet">
              {[
                call.line !== null ? trans.__('line %1', call.line) : '',
                took(call),
                call.decided_by === 'policy' ? '' : trans.__('you were asked')
              ]
                .filter(Boolean)
                .map(part => ` · ${part}`)
                .join('')}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
