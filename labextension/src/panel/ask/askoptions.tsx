import React from 'react';

import type { IAgentState } from '../../comm/agentstate';
import { approvalLabel, privacyLabel } from '../../common/labels';
import type { IAskOptions } from '../../prompts/askcell';
import type { ApprovalPolicy, Privacy } from '../../protocol/messages';
import { Fold } from '../controls/basics';
import { useServices } from '../services';

const APPROVALS: readonly ApprovalPolicy[] = ['review', 'ask', 'auto'];
const PRIVACIES: readonly Privacy[] = ['schema', 'stats', 'samples'];

/** So many variables are offered; the others are named in the prompt. */
const MAX_CHIPS = 24;

/** What may be chosen for one question; nothing chosen means: as the settings say. */
export function AskOptions(props: {
  state: IAgentState;
  options: IAskOptions;
  onChange: (options: IAskOptions) => void;
}): JSX.Element {
  const { trans } = useServices();
  const { state, options, onChange } = props;
  const chosen = options.vars ?? [];
  const names = state.context.variables
    .filter(variable => variable.shared !== 'hidden' && !variable.withheld)
    .map(variable => variable.name);
  const offered = [...new Set([...names.slice(0, MAX_CHIPS), ...chosen])];
  const toggle = (name: string): void =>
    onChange({
      ...options,
      vars: chosen.includes(name) ? chosen.filter(other => other !== name) : [...chosen, name]
    });
  return (
    <Fold className="jp-CodeAgent-askOptions" summary={<Summary options={options} />}>
      {offered.length > 0 && (
        <fieldset>
          <legend>{trans.__('Copy only')}</legend>
          {offered.map(name => (
            <label key={name} className="jp-CodeAgent-pick">
              <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
              <code>{name}</code>
            </label>
          ))}
        </fieldset>
      )}
      <div className="jp-CodeAgent-askRow">
        <label>
          {trans.__('Approval')}
          <select
            className="jp-CodeAgent-select"
            value={options.approve ?? ''}
            onChange={event =>
              onChange({
                ...options,
                approve: (event.target.value || undefined) as ApprovalPolicy | undefined
              })
            }
          >
            <option value="">{trans.__('current setting (%1)', approvalLabel(trans, state.approve))}</option>
            {APPROVALS.map(policy => (
              <option key={policy} value={policy}>
                {approvalLabel(trans, policy)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {trans.__('Privacy')}
          <select
            className="jp-CodeAgent-select"
            value={options.privacy ?? ''}
            onChange={event =>
              onChange({ ...options, privacy: (event.target.value || undefined) as Privacy | undefined })
            }
          >
            <option value="">
              {trans.__('current setting (%1)', privacyLabel(trans, state.context.privacy))}
            </option>
            {PRIVACIES.map(privacy => (
              <option key={privacy} value={privacy}>
                {privacyLabel(trans, privacy)}
              </option>
            ))}
          </select>
        </label>
      </div>
    </Fold>
  );
}

/** What is chosen, as options of the magic: these will be in the cell. */
function Summary(props: { options: IAskOptions }): JSX.Element {
  const { trans } = useServices();
  const { vars = [], model, approve, privacy } = props.options;
  const parts = [vars.join(', '), model, approve, privacy].filter(Boolean);
  return (
    <span className="jp-CodeAgent-quiet">
      {parts.length > 0 ? trans.__('Options: %1', parts.join(' · ')) : trans.__('Options')}
    </span>
  );
}
