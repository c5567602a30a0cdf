import React from 'react';

import type { KernelConnection } from '../../comm/connection';
import type { IServer, Privacy } from '../../protocol/messages';
import { EMBEDDED } from '../../protocol/messages';
import { Chip, Problem, Section } from '../controls/basics';
import { useServices } from '../services';
import { SettingSource } from './settingsource';

const MODES: readonly Privacy[] = ['schema', 'stats', 'samples'];

/** How much of the data may enter a prompt, and where prompts go. */
export function PrivacyChoice(props: { connection: KernelConnection }): JSX.Element {
  const { trans } = useServices();
  const { connection } = props;
  const { settings, context, refused } = connection.model.state;
  const setting = settings.values.find(one => one.name === 'privacy');
  const mode = (setting?.value ?? context.privacy) as Privacy;
  const allowed = setting?.limit ? MODES.indexOf(setting.limit as Privacy) : MODES.length;
  const texts: Record<Privacy, [string, string]> = {
    schema: [trans.__('Names and types'), trans.__('no values')],
    stats: [trans.__('Statistics'), trans.__('also counts, ranges, frequent values')],
    samples: [trans.__('Example rows'), trans.__('also a few actual rows')]
  };
  return (
    <Section title={trans.__('What the model may see')}>
      <Destination server={settings.server} />
      <fieldset className="jp-CodeAgent-privacy" disabled={setting?.fixed}>
        <legend className="jp-CodeAgent-srOnly">{trans.__('Privacy')}</legend>
        {MODES.map((one, at) => (
          <label key={one} data-chosen={one === mode} data-allowed={at <= allowed}>
            <input
              type="radio"
              name="jp-CodeAgent-privacy"
              checked={one === mode}
              disabled={at > allowed}
              onChange={() => {
                connection.model.clearRefusal();
                connection.send({ type: 'choose', name: 'privacy', value: one });
              }}
            />
            <span>
              {texts[one][0]} <span className="jp-CodeAgent-quiet">— {texts[one][1]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {setting && <SettingSource setting={setting} />}
      {refused && <Problem>{refused}</Problem>}
    </Section>
  );
}

/** This machine, or another one: by name, and not to be overlooked. */
export function Destination(props: { server: IServer | null }): JSX.Element {
  const { trans } = useServices();
  const { server } = props;
  if (!server) {
    return (
      <p className="jp-CodeAgent-quiet">
        {trans.__('No model server is set: the first run looks for one on this machine.')}
      </p>
    );
  }
  return (
    <p className="jp-CodeAgent-destination" data-remote={server.remote}>
      <Chip kind={server.remote ? 'remote' : 'local'}>
        {server.remote ? trans.__('REMOTE') : trans.__('this machine')}
      </Chip>
      <span>
        {server.model && <b>{server.model}</b>}{' '}
        {server.label === EMBEDDED ? trans.__('built in, no server') : trans.__('at %1', server.label)}
      </span>
    </p>
  );
}
