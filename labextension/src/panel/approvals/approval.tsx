import React, { useEffect, useId, useRef, useState } from 'react';

import { grantLabel } from '../../common/labels';
import type { IDecisionMessage, IEffects, IProposal, Scope } from '../../protocol/messages';
import { Button, Problem } from '../controls/basics';
import { Diff } from '../controls/diffview';
import type { IEditorHandle } from '../controls/editor';
import { Editor } from '../controls/editor';
import { useServices } from '../services';
import { useArmed, useEffectsOf, useSending } from './approvalhooks';
import { EffectsList } from './effects';

/** Calls of one run, as the kernel allows them at the most. */
const MAX_CALLS = 1000;
/** Where the program does not say how many it makes. */
const USUAL_CALLS = 10;

type Action = IDecisionMessage['action'];
type View = 'code' | 'previous' | 'edits';

/** A proposal that waits for approval. Render with the proposal's id as key: heartbeats then leave the editor alone. */
export function Approval(props: {
  proposal: IProposal;
  /** Its index among the waiting proposals, from 0. */
  position?: number;
  /** Whether it was sent. */
  onDecide: (decision: IDecisionMessage) => boolean;
  onFindEffects?: (code: string) => Promise<IEffects | null>;
}): JSX.Element {
  const { trans } = useServices();
  const { proposal } = props;
  const [code, setCode] = useState(proposal.code);
  const [reason, setReason] = useState('');
  const [scope, setScope] = useState<Scope>(proposal.scopes[0]);
  const [calls, setCalls] = useState(proposal.calls > 1 ? Math.min(proposal.calls, MAX_CALLS) : USUAL_CALLS);
  const armed = useArmed(props.position ?? 0);
  const sending = useSending(props.onDecide);
  const title = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(!props.position);
  useEffect(() => {
    if (isFirst.current) {
      heading.current!.scrollIntoView({ block: 'nearest' }); // the panel may be scrolled; the keyboard stays where it is
    }
  }, []);
  const isCode = proposal.kind === 'run' || proposal.kind === 'apply';
  const effects = useEffectsOf(code, proposal, props.onFindEffects);
  const decide = (action: Action): void =>
    sending.send({
      type: 'decision',
      proposal_id: proposal.id,
      action,
      ...(action === 'approve' ? { code } : reason.trim() ? { reason: reason.trim() } : {}),
      ...(action === 'approve' ? { scope } : {}),
      ...(action === 'approve' && scope === 'run' ? { calls } : {})
    });
  const busy = sending.action !== null;
  return (
    <section className="jp-CodeAgent-approval" role="group" aria-labelledby={title} data-kind={proposal.kind}>
      <h3 id={title} ref={heading} tabIndex={-1}>
        {
          {
            run: trans.__('Run this in the sandbox?'),
            apply: trans.__('Run this in YOUR kernel?'),
            overwrite: trans.__('Overwrite your variable?'),
            mount: trans.__('Let the sandbox read your files?'),
            call: trans.__('Call your function in YOUR kernel?'),
            query: trans.__('Query your database?'),
            server: trans.__('Send your prompts to this model server?')
          }[proposal.kind]
        }
      </h3>
      {proposal.note && <p>{proposal.note}</p>}
      {proposal.why && <p className="jp-CodeAgent-why">{proposal.why}</p>}
      {isCode || isCall(proposal) ? (
        <CodeToApprove proposal={proposal} code={code} onChange={setCode} />
      ) : (
        <pre className="jp-CodeAgent-plain" tabIndex={0}>
          {proposal.code}
        </pre>
      )}
      {isCode && <EffectsList trans={trans} effects={effects} inKernel={proposal.kind === 'apply'} />}
      <ScopeChoice proposal={proposal} scope={scope} calls={calls} onChange={setScope} onCalls={setCalls} />
      <label className="jp-CodeAgent-reason">
        {trans.__('Why not? (sent to the model)')}
        <input
          type="text"
          className="jp-CodeAgent-input"
          value={reason}
          placeholder={trans.__('Reason for rejecting (optional)')}
          onChange={e => setReason(e.target.value)}
          onKeyDown={e => e.key === 'Enter' && e.preventDefault()}
        />
      </label>
      {sending.problem && <Problem>{sending.problem}</Problem>}
      {sending.waiting && (
        <p role="status" className="jp-CodeAgent-quiet">
          {sending.waiting}
        </p>
      )}
      <div className="jp-CodeAgent-buttons">
        <Button onClick={() => decide('reject')} disabled={busy || !armed}>
          {sending.action === 'reject' ? trans.__('Rejecting …') : trans.__('Reject')}
        </Button>
        <Button
          kind={proposal.kind === 'run' ? 'primary' : 'danger'}
          onClick={() => decide('approve')}
          disabled={busy || !armed}
        >
          {sending.action === 'approve' ? trans.__('Approving …') : trans.__('Approve')}
        </Button>
      </div>
    </section>
  );
}

/** A call of a function, or a query of a database: text whose end must not be out of sight. */
function isCall(proposal: IProposal): boolean {
  return proposal.kind === 'call' || proposal.kind === 'query';
}

/** The code in an editor; beside it what changed since the last attempt, and what the user changed. */
function CodeToApprove(props: {
  proposal: IProposal;
  code: string;
  onChange: (code: string) => void;
}): JSX.Element {
  const { trans } = useServices();
  const { proposal, code } = props;
  const handle = useRef<IEditorHandle>({ reset: () => undefined });
  const [chosen, setChosen] = useState<View>('code');
  const edited = code !== proposal.code;
  const views: [View, string, boolean][] = [
    ['code', trans.__('Code'), true],
    ['previous', trans.__('Changes since the last attempt'), proposal.previous_code !== ''],
    ['edits', trans.__('Your changes'), edited]
  ];
  const there = views.filter(([, , isThere]) => isThere);
  const view = there.some(([id]) => id === chosen) ? chosen : 'code';
  const button = (id: View, label: string): JSX.Element => (
    <button
      key={id}
      type="button"
      className="jp-CodeAgent-toggle"
      aria-pressed={view === id}
      onClick={() => setChosen(id)}
    >
      {label}
    </button>
  );
  return (
    <div className="jp-CodeAgent-toApprove">
      {there.length > 1 && (
        <div className="jp-CodeAgent-toggles">{there.map(([id, label]) => button(id, label))}</div>
      )}
      {/* Hidden, not gone: the edits stay, and what can be undone. */}
      <div hidden={view !== 'code'}>
        <Editor
          value={proposal.code}
          label={trans.__('Proposed code (editable)')}
          wrap={isCall(proposal)}
          handle={handle}
          onChange={props.onChange}
        />
      </div>
      {view === 'previous' && (
        <Diff
          trans={trans}
          before={proposal.previous_code}
          after={code}
          label={trans.__('Changes since the last attempt')}
        />
      )}
      {view === 'edits' && (
        <Diff trans={trans} before={proposal.code} after={code} label={trans.__('Your changes')} />
      )}
      {edited && (
        <div className="jp-CodeAgent-line" role="status">
          <span className="jp-CodeAgent-quiet">
            {trans.__('You edited the code: your version will run.')}
          </span>
          <Button onClick={() => handle.current.reset()}>{trans.__('Revert my changes')}</Button>
        </div>
      )}
    </div>
  );
}

/** How far an approval goes, where there are several scopes. */
function ScopeChoice(props: {
  proposal: IProposal;
  scope: Scope;
  calls: number;
  onChange: (scope: Scope) => void;
  onCalls: (calls: number) => void;
}): JSX.Element | null {
  const { trans } = useServices();
  const { scopes, lasting, kind } = props.proposal;
  const isQuery = kind === 'query';
  const name = useId();
  if (scopes.length === 1) {
    return scopes[0] === 'notebook' ? (
      <p className="jp-CodeAgent-quiet">
        {trans.__('An approval lasts until you revoke it or the kernel shuts down.')}
      </p>
    ) : null;
  }
  const choice = (scope: Scope, label: string): JSX.Element => (
    <label>
      <input
        type="radio"
        name={name}
        checked={props.scope === scope}
        onChange={() => props.onChange(scope)}
      />
      {label}
    </label>
  );
  const count = (text: string): void => {
    const calls = Math.round(Number(text));
    if (calls >= 1 && calls <= MAX_CALLS) {
      props.onCalls(calls);
      props.onChange('run');
    }
  };
  return (
    <fieldset className="jp-CodeAgent-scope">
      <legend>{trans.__('Approve for')}</legend>
      {scopes.includes('once') && choice('once', trans.__('this once'))}
      {scopes.includes('run') && (
        <div className="jp-CodeAgent-line">
          {choice(
            'run',
            isQuery
              ? trans.__('this many queries in this run:')
              : trans.__('this many calls to it in this run:')
          )}
          <input
            type="number"
            className="jp-CodeAgent-input"
            aria-label={isQuery ? trans.__('Queries') : trans.__('Calls to this function')}
            min={1}
            max={MAX_CALLS}
            value={props.calls}
            onChange={e => count(e.target.value)}
          />
        </div>
      )}
      {scopes.includes('notebook') &&
        choice('notebook', lasting.map(grant => grantLabel(trans, grant)).join(', '))}
    </fieldset>
  );
}
