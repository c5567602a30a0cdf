import type { LabIcon } from '@jupyterlab/ui-components';
import React, { useId, useState } from 'react';

import { openShieldIcon, shieldIcon } from '../../common/icons';
import type { ISandbox } from '../../protocol/messages';
import { Fold } from '../controls/basics';
import { useServices } from '../services';

/** Which sandbox is in force; a click explains what that means. */
export function SandboxBadge(props: { sandbox: ISandbox }): JSX.Element {
  const { trans } = useServices();
  const { sandbox } = props;
  const [open, setOpen] = useState(false);
  const id = useId();
  const isolated = sandbox.level !== 'none' && sandbox.open.length === 0;
  const Icon: LabIcon = isolated ? shieldIcon : openShieldIcon;
  return (
    <div className="jp-CodeAgent-sandbox">
      <button
        type="button"
        className="jp-CodeAgent-badge"
        data-kind={isolated ? 'good' : 'bad'}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <Icon.react tag="span" className="jp-CodeAgent-badgeIcon" />
        {trans.__('Sandbox: %1', sandbox.label)}
      </button>
      {/* Always there, so that the button controls something. */}
      <div id={id} className="jp-CodeAgent-inForce" hidden={!open}>
        {open && <InForce sandbox={sandbox} />}
      </div>
    </div>
  );
}

function InForce(props: { sandbox: ISandbox }): JSX.Element {
  const { trans } = useServices();
  const { sandbox } = props;
  const group = (title: string, items: readonly string[], open = false): JSX.Element | null =>
    items.length === 0 ? null : (
      <Fold summary={`${title} (${items.length})`} open={open}>
        <ul className="jp-CodeAgent-list">
          {items.map(item => (
            <li key={item}>{item}</li>
          ))}
        </ul>
      </Fold>
    );
  return (
    <>
      <p>
        {sandbox.level === 'none'
          ? trans.__('Nothing keeps the model’s code from your files and the network.')
          : sandbox.open.length > 0
            ? trans.__('The code runs apart from your kernel, but not everything that was tested is blocked.')
            : trans.__(
                'The code runs apart from your kernel, on copies of variables. Each item below was tested from inside the sandbox.'
              )}
      </p>
      {group(trans.__('Not blocked'), sandbox.open, true)}
      {group(trans.__('Protections in force'), sandbox.layers)}
      {group(trans.__('Blocked (tested at startup)'), sandbox.closed)}
      {group(trans.__('Limits'), sandbox.limits)}
      {sandbox.hint && <p className="jp-CodeAgent-quiet">{sandbox.hint}</p>}
    </>
  );
}
