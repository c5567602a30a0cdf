import React from 'react';

import type { IDecision } from '../../protocol/run';
import { useServices } from '../services';

/** Who decided, where and when; nothing for what no person was asked. */
export function DecisionLine(props: { decision: IDecision | null }): JSX.Element | null {
  const { trans } = useServices();
  const { decision } = props;
  if (!decision || decision.decided_by === 'policy') {
    return null;
  }
  const yes = decision.action === 'approve';
  const line =
    {
      panel: yes ? trans.__('Approved by you in the panel') : trans.__('Rejected by you in the panel'),
      stdin: yes
        ? trans.__('Approved by you at the input prompt')
        : trans.__('Rejected by you at the input prompt'),
      widget: yes ? trans.__('Approved by you in the notebook') : trans.__('Rejected by you in the notebook')
    }[decision.decided_by] ?? (yes ? trans.__('Approved') : trans.__('Not run: nobody approved it'));
  const parts = [line];
  if (decision.decided_at > 0) {
    parts.push(new Date(decision.decided_at * 1000).toLocaleTimeString([], { timeStyle: 'short' }));
  }
  if (decision.edited) {
    parts.push(trans.__('edited by you'));
  }
  if (decision.scope === 'notebook') {
    parts.push(trans.__('for this notebook'));
  }
  return (
    <p className="jp-CodeAgent-quiet">
      {parts.join(' · ')}
      {decision.reason && `: ${decision.reason}`}
    </p>
  );
}
