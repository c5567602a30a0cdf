import React, { useEffect, useRef, useState } from 'react';

import type { KernelConnection } from '../../comm/connection';
import { approvalLabel, privacyLabel } from '../../common/labels';
import type { ApprovalPolicy, ISetting, Privacy, SettingValue } from '../../protocol/messages';
import { Empty, Problem, Section } from '../controls/basics';
import { useReadyConnection, useServices } from '../services';
import { Models } from './models';
import { SettingSource } from './settingsource';

/** The models that could be asked, and the settings of this kernel. */
export function SettingsTab(): JSX.Element {
  const { trans } = useServices();
  const connection = useReadyConnection();
  if (!connection) {
    return (
      <Empty>
        {trans.__('Load the agent in this notebook to choose the model here.')}{' '}
        {trans.__('To change it for every notebook: Settings → Settings Editor → Code agent.')}
      </Empty>
    );
  }
  return <Live key={connection.kernel.id} connection={connection} />;
}

function Live(props: { connection: KernelConnection }): JSX.Element {
  const { trans } = useServices();
  const { connection } = props;
  const { settings, refused } = connection.model.state;
  /** The setting that was changed last; empty if it was the model. */
  const [chosen, setChosen] = useState('');
  const choose = (name: string, value: SettingValue): void => {
    connection.model.clearRefusal();
    setChosen(name);
    connection.send({ type: 'choose', name, value });
  };
  const labels: Record<string, string> = {
    approve: trans.__('Approval'),
    privacy: trans.__('Privacy'),
    max_steps: trans.__('Maximum steps'),
    timeout_s: trans.__('Time limit for code, in seconds'),
    context_tokens: trans.__('Tokens for describing variables')
  };
  return (
    <>
      {refused && !chosen && <Problem>{refused}</Problem>}
      <Models connection={connection} onUse={() => setChosen('')} />
      <Section title={trans.__('Settings')}>
        <ul className="jp-CodeAgent-settings">
          {settings.values
            .filter(setting => setting.name in labels)
            .map(setting => (
              <li key={setting.name}>
                <label>
                  <span>{labels[setting.name]}</span>
                  <Control
                    setting={setting}
                    refused={refused}
                    onChange={value => choose(setting.name, value)}
                  />
                </label>
                {refused && chosen === setting.name && <Problem>{refused}</Problem>}
                <SettingSource setting={setting} />
              </li>
            ))}
        </ul>
        <p className="jp-CodeAgent-quiet">
          {trans.__(
            'Changes apply to this kernel. For every notebook: Settings → Settings Editor → Code agent.'
          )}{' '}
          {trans.__(
            'API keys are read from %1 in the environment that Jupyter is started in; they are stored nowhere else.',
            'CODEAGENT_API_KEY'
          )}
        </p>
      </Section>
    </>
  );
}

const CHOICES: Record<string, readonly string[]> = {
  approve: ['ask', 'review', 'auto'],
  privacy: ['schema', 'stats', 'samples']
};

interface IControlProps {
  setting: ISetting;
  /** Why the last change of a setting, of whichever, was not made. */
  refused: string;
  onChange: (value: SettingValue) => void;
}

function Control(props: IControlProps): JSX.Element {
  const { trans } = useServices();
  const { setting, onChange } = props;
  const choices = CHOICES[setting.name];
  if (choices) {
    const allowed = setting.limit === null ? choices.length : choices.indexOf(String(setting.limit));
    return (
      <select
        className="jp-CodeAgent-select"
        value={String(setting.value)}
        disabled={setting.fixed}
        onChange={event => onChange(event.target.value)}
      >
        {choices.map((choice, at) => (
          <option key={choice} value={choice} disabled={at > allowed}>
            {setting.name === 'approve'
              ? approvalLabel(trans, choice as ApprovalPolicy)
              : privacyLabel(trans, choice as Privacy)}
          </option>
        ))}
      </select>
    );
  }
  if (typeof setting.value === 'boolean') {
    return (
      <input
        type="checkbox"
        checked={setting.value}
        disabled={setting.fixed}
        onChange={event => onChange(event.target.checked)}
      />
    );
  }
  return <NumberField {...props} />;
}

/** Sent when the field is left or Enter is pressed, not at each digit. */
function NumberField(props: IControlProps): JSX.Element {
  const { setting, refused, onChange } = props;
  const inForce = String(setting.value);
  const [text, setText] = useState(inForce);
  const displayed = useRef(inForce);
  /** What was asked for; null once the kernel has answered. */
  const asked = useRef<string | null>(null);
  // What the user goes on typing meanwhile stays.
  useEffect(() => {
    const untouched = [displayed.current, asked.current];
    displayed.current = inForce;
    asked.current = null;
    setText(typed => (untouched.includes(typed) ? inForce : typed));
  }, [inForce]);
  useEffect(() => {
    const wanted = asked.current;
    if (refused && wanted !== null) {
      asked.current = null;
      setText(typed => (typed === wanted ? inForce : typed));
    }
  }, [refused, inForce]);
  const commit = (): void => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value)) {
      setText(inForce);
    } else if (value !== setting.value) {
      asked.current = text;
      onChange(value);
    }
  };
  return (
    <input
      type="number"
      className="jp-CodeAgent-input"
      value={text}
      max={setting.limit === null ? undefined : String(setting.limit)}
      disabled={setting.fixed}
      onChange={event => setText(event.target.value)}
      onBlur={commit}
      onKeyDown={event => event.key === 'Enter' && commit()}
    />
  );
}
