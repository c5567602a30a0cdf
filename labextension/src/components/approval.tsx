import React, { useRef, useState } from 'react';

import type { IDecisionMessage, IProposal } from '../protocol';
import { Button } from './basics';
import { Editor } from './editor';
import { useServices } from './services';

/** Code that waits for a yes. Render with the proposal's id as key: heartbeats then leave the editor alone. */
export function Approval(props: {
  proposal: IProposal;
  onDecide: (decision: IDecisionMessage) => void;
}): JSX.Element {
  const { trans } = useServices();
  const { proposal } = props;
  const code = useRef(() => proposal.code);
  const [reason, setReason] = useState('');
  const [notebookScope, setNotebookScope] = useState(false);
  const title = {
    run: trans.__('Run this in the sandbox?'),
    apply: trans.__('Run this in YOUR kernel?'),
    overwrite: trans.__('Overwrite your variable?'),
    mount: trans.__('Let the sandbox read your files?')
  }[proposal.kind];
  const decide = (action: 'approve' | 'reject'): void =>
    props.onDecide({
      type: 'decision',
      proposal_id: proposal.id,
      action,
      ...(action === 'approve' ? { code: code.current() } : reason ? { reason } : {}),
      scope: action === 'approve' && notebookScope ? 'notebook' : 'once'
    });
  return (
    <section className="jp-CodeAgent-approval" role="group" aria-label={title} data-kind={proposal.kind}>
      <h3>{title}</h3>
      {proposal.note && <p>{proposal.note}</p>}
      {proposal.kind === 'overwrite' || proposal.kind === 'mount' ? (
        <pre className="jp-CodeAgent-plain">{proposal.code}</pre>
      ) : (
        <Editor value={proposal.code} label={trans.__('Proposed code, may be edited')} read={code} />
      )}
      {proposal.kind === 'mount' ? (
        <p className="jp-CodeAgent-quiet">{trans.__('A yes is for these files, until the kernel ends.')}</p>
      ) : (
        <label className="jp-CodeAgent-scope">
          <input type="checkbox" checked={notebookScope} onChange={e => setNotebookScope(e.target.checked)} />
          {trans.__('Yes to all of this kind in this notebook')}
        </label>
      )}
      <input
        type="text"
        className="jp-CodeAgent-input"
        value={reason}
        placeholder={trans.__('Why not? (optional, with Reject)')}
        aria-label={trans.__('Reason for rejecting, optional')}
        onChange={e => setReason(e.target.value)}
      />
      <div className="jp-CodeAgent-buttons">
        <Button onClick={() => decide('reject')}>{trans.__('Reject')}</Button>
        <Button kind={proposal.kind === 'run' ? 'primary' : 'danger'} onClick={() => decide('approve')}>
          {trans.__('Approve')}
        </Button>
      </div>
    </section>
  );
}
