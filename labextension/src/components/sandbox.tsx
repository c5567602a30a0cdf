import React from 'react';

import type { ISandbox } from '../protocol';
import { Fold } from './basics';
import { useServices } from './services';

/** Which sandbox is in force, and what that means. */
export function SandboxBadge(props: { sandbox: ISandbox }): JSX.Element {
  const { trans } = useServices();
  const { sandbox } = props;
  const isolated = sandbox.level !== 'none' && sandbox.open.length === 0;
  const list = (title: string, items: readonly string[]): JSX.Element | null =>
    items.length === 0 ? null : (
      <>
        <dt>{title}</dt>
        {items.map(item => (
          <dd key={item}>{item}</dd>
        ))}
      </>
    );
  return (
    <Fold
      className="jp-CodeAgent-sandbox"
      summary={
        <span className="jp-CodeAgent-badge" data-kind={isolated ? 'good' : 'bad'}>
          {trans.__('Sandbox: %1', sandbox.label)}
        </span>
      }
    >
      <dl>
        {list(trans.__('Layers in force'), sandbox.layers)}
        {list(trans.__('Tried from inside and refused'), sandbox.closed)}
        {list(trans.__('Tried from inside and possible'), sandbox.open)}
        {list(trans.__('Limits'), sandbox.limits)}
      </dl>
      {sandbox.hint && <p>{sandbox.hint}</p>}
    </Fold>
  );
}
