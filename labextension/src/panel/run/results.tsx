import React from 'react';

import type { IPull } from '../../comm/agentstate';
import { pullKey } from '../../comm/agentstate';
import type { IChange, IMade, IRun } from '../../protocol/run';
import { Button } from '../controls/basics';
import { useServices } from '../services';

/** What a run left in the sandbox: copies that it changed, and results that can be brought back. */
export function Results(props: {
  run: IRun;
  pulls?: Readonly<Record<string, IPull>>;
  /** Without it there is no sandbox to bring anything from: a run of the history. */
  onPull?: (name: string) => void;
}): JSX.Element | null {
  const { trans } = useServices();
  const { run, onPull } = props;
  const changes = run.changes ?? [];
  const made = onPull ? (run.made ?? []).filter(item => item.returns_as !== '') : [];
  if (changes.length === 0 && made.length === 0) {
    return null;
  }
  return (
    <>
      {changes.length > 0 && (
        <ul className="jp-CodeAgent-list" aria-label={trans.__('Copies that differ from your variables')}>
          {changes.map(change => (
            <Change key={change.name} change={change} />
          ))}
        </ul>
      )}
      {onPull && made.length > 0 && (
        <ul className="jp-CodeAgent-list jp-CodeAgent-made" aria-label={trans.__('Results in the sandbox')}>
          {made.map(item => (
            <Made
              key={item.name}
              item={item}
              pull={props.pulls?.[pullKey(run.id, item.name)]}
              onPull={() => onPull(item.name)}
            />
          ))}
        </ul>
      )}
    </>
  );
}

function Change(props: { change: IChange }): JSX.Element {
  const { trans } = useServices();
  const { name, kind, added, removed, values, notes, earlier } = props.change;
  const words = {
    changed: trans.__('the copy was changed in place'),
    rebound: trans.__('now refers to another object'),
    deleted: trans.__('was deleted')
  }[kind];
  const parts = [
    ...added.map(label => `+ ${label}`),
    ...removed.map(label => `− ${label}`),
    ...values.map(label => trans.__('values of %1', label)),
    ...notes
  ];
  return (
    <li>
      <code>{name}</code> {words}
      {earlier && ` ${trans.__('by an earlier run')}`}
      {parts.length > 0 && <span className="jp-CodeAgent-quiet"> {parts.join(', ')}</span>}
    </li>
  );
}

function Made(props: { item: IMade; pull?: IPull; onPull: () => void }): JSX.Element {
  const { trans } = useServices();
  const { item, pull } = props;
  const what = [item.type_name, item.shape.join('x')].filter(Boolean).join(' ');
  const form = {
    '': '',
    data: '',
    image: trans.__(', as a PNG image'),
    specification: trans.__(', as its specification')
  }[item.returns_as];
  return (
    <li>
      <Button
        onClick={props.onPull}
        disabled={pull?.state === 'waiting'}
        title={trans.__('Copy it into your kernel as data; asks before overwriting a variable')}
        label={trans.__('Bring back %1', item.name)}
      >
        {trans.__('Bring back')} <code>{item.name}</code>
      </Button>{' '}
      <span className="jp-CodeAgent-quiet">
        {what}
        {form}
      </span>
      {pull && (
        <div role={pull.state === 'failed' ? 'alert' : 'status'} className="jp-CodeAgent-quiet">
          {pull.state === 'waiting' ? trans.__('waiting until your kernel is free …') : pull.text}
        </div>
      )}
    </li>
  );
}
