import React from 'react';

import { formatBytes, formatTokens } from '../../common/format';
import { contentLabel, purposeLabel } from '../../common/labels';
import type { IModelCall, IRun } from '../../protocol/run';
import { Fold } from '../controls/basics';
import { useServices } from '../services';

/** What left the kernel: copies into the sandbox, text to the model. */
export function Sent(props: { run: IRun }): JSX.Element {
  const { trans } = useServices();
  const { manifest, sandbox } = props.run;
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
              <span className="jp-CodeAgent-quiet">
                {formatBytes(item.size_bytes)}
                {manifest.unchanged?.includes(item.name) && `, ${trans.__('already copied')}`}
              </span>
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
      <Fold summary={trans.__('Sent to the model')}>
        <SentToModel run={props.run} />
      </Fold>
    </>
  );
}

/** Each request with the kinds of things that it held, as the kernel noted them on their way. */
function SentToModel(props: { run: IRun }): JSX.Element {
  const { trans } = useServices();
  const { context, house_rules: houseRules, request, usage, model_calls = [] } = props.run;
  const older = model_calls.length === 0 && usage.calls > 0;
  if (!older && !model_calls.some(call => call.sent)) {
    return <p className="jp-CodeAgent-quiet">{trans.__('Nothing was sent.')}</p>;
  }
  return (
    <>
      <p className="jp-CodeAgent-quiet">
        {request.remote
          ? trans.__('Sent to %1, on another machine', request.server ?? '')
          : trans.__('Sent to %1, on this machine', request.server || request.model)}
      </p>
      {model_calls.length > 0 && (
        <ul className="jp-CodeAgent-list">
          {model_calls.map((call, i) => (
            <li key={i}>
              <Call call={call} />
            </li>
          ))}
        </ul>
      )}
      {houseRules && <Told title={trans.__('Your house rules:')} text={houseRules} />}
      {context && <Told title={trans.__('The description of your variables:')} text={context} />}
    </>
  );
}

function Told(props: { title: string; text: string }): JSX.Element {
  return (
    <>
      <p className="jp-CodeAgent-quiet">{props.title}</p>
      <pre className="jp-CodeAgent-plain" tabIndex={0}>
        {props.text}
      </pre>
    </>
  );
}

function Call(props: { call: IModelCall }): JSX.Element {
  const { trans } = useServices();
  const { purpose, kinds, sent, usage } = props.call;
  const asked = purpose === 'program' ? [trans.__('the question')] : [];
  const held = [...asked, ...kinds.map(kind => contentLabel(trans, kind))].join(', ');
  return (
    <>
      {purposeLabel(trans, purpose)}: {sent ? held : trans.__('not sent: no connection')}{' '}
      {usage.calls > 0 && <span className="jp-CodeAgent-quiet">{formatTokens(trans, usage)}</span>}
    </>
  );
}
