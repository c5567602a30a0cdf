import React from 'react';

import type { KernelConnection } from '../../comm/connection';
import { useServices } from '../services';
import { Approval } from './approval';

/** All that waits for a decision, the oldest first. */
export function Proposals(props: { connection: KernelConnection }): JSX.Element | null {
  const { trans } = useServices();
  const { connection } = props;
  const { proposals } = connection.model.state;
  return (
    <>
      {proposals.length > 1 && (
        <p className="jp-CodeAgent-waitingCount" role="status">
          {trans.__('%1 decisions are waiting for you.', proposals.length)}
        </p>
      )}
      {proposals.map((proposal, position) => (
        <Approval
          key={proposal.id}
          proposal={proposal}
          position={position}
          onDecide={decision => connection.send(decision)}
          onFindEffects={code => connection.findEffects(code, proposal.kind === 'apply')}
        />
      ))}
    </>
  );
}
