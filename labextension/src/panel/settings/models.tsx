import React, { useEffect, useState } from 'react';

import type { KernelConnection } from '../../comm/connection';
import type { IServed, ISetting } from '../../protocol/messages';
import { EMBEDDED } from '../../protocol/messages';
import { Button, Chip, Section } from '../controls/basics';
import { useServices } from '../services';
import { Destination } from './privacy';
import { SettingSource } from './settingsource';

interface IChoice {
  model: string;
  server: IServed;
}

/** The model in use, those that could be, and how their servers are. */
export function Models(props: {
  connection: KernelConnection;
  /** Another model is asked for. */
  onUse: () => void;
}): JSX.Element {
  const { trans } = useServices();
  const { connection } = props;
  const { settings, models } = connection.model.state;
  const [asked, setAsked] = useState<IChoice | null>(null);
  useEffect(() => void connection.send({ type: 'find_models' }), [connection]);
  const fixed = settings.values.filter(one => one.fixed && ['model', 'base_url'].includes(one.name));
  const use = (model: string, server: IServed | null, confirmed = ''): void => {
    setAsked(null);
    connection.model.clearRefusal();
    props.onUse();
    connection.send({ type: 'use_model', model, base_url: server?.base_url ?? '', confirmed });
  };
  const isUsed = (model: string, label: string): boolean =>
    settings.server?.model === model && settings.server.label === label;
  const canUse = (model: string, baseUrl: string): boolean => fixed.every(one => fits(one, model, baseUrl));
  return (
    <Section
      title={trans.__('Model')}
      extra={<Button onClick={() => connection.send({ type: 'find_models' })}>{trans.__('Refresh')}</Button>}
    >
      <Destination server={settings.server} />
      {fixed.map(setting => (
        <p key={setting.name}>
          <code>{String(setting.value)}</code> <SettingSource setting={setting} />
        </p>
      ))}
      {asked && (
        <RemoteQuestion
          choice={asked}
          privacy={String(settings.values.find(one => one.name === 'privacy')?.value ?? '')}
          onYes={() => use(asked.model, asked.server, asked.server.label)}
          onNo={() => setAsked(null)}
        />
      )}
      {models === null && (
        <p role="status" className="jp-CodeAgent-quiet">
          {trans.__('Looking for models …')}
        </p>
      )}
      <ul className="jp-CodeAgent-servers">
        {models?.servers.map(server => (
          <li key={server.base_url}>
            <div className="jp-CodeAgent-line">
              <b>{server.label}</b>
              {server.remote && <Chip kind="remote">{trans.__('REMOTE')}</Chip>}
              <Chip kind={server.problem ? 'failed' : 'ok'}>
                {server.problem ? trans.__('not working') : trans.__('working')}
              </Chip>
            </div>
            {server.problem && <p className="jp-CodeAgent-quiet">{server.problem}</p>}
            <ul>
              {server.models.map(model => (
                <Model
                  key={model}
                  name={model}
                  isUsed={isUsed(model, server.label)}
                  disabled={!canUse(model, server.base_url)}
                  onUse={() => (server.remote ? setAsked({ model, server }) : use(model, server))}
                />
              ))}
            </ul>
          </li>
        ))}
        {models && fixed.length === 0 && (
          <li>
            <div className="jp-CodeAgent-line">
              <b>{trans.__('without a server')}</b>
            </div>
            <ul>
              <Model
                name={models.embedded.name}
                isUsed={settings.server?.label === EMBEDDED}
                disabled={models.embedded.problem !== ''}
                onUse={() => use(EMBEDDED, null)}
              />
            </ul>
            {models.embedded.problem && <p className="jp-CodeAgent-quiet">{models.embedded.problem}</p>}
          </li>
        )}
      </ul>
    </Section>
  );
}

function fits(setting: ISetting, model: string, baseUrl: string): boolean {
  return setting.value === (setting.name === 'model' ? model : baseUrl);
}

function Model(props: { name: string; isUsed: boolean; disabled: boolean; onUse: () => void }): JSX.Element {
  const { trans } = useServices();
  return (
    <li className="jp-CodeAgent-line" aria-current={props.isUsed}>
      <code>{props.name}</code>
      {props.isUsed ? (
        <Chip kind="ok">{trans.__('in use')}</Chip>
      ) : (
        <Button label={trans.__('Use %1', props.name)} disabled={props.disabled} onClick={props.onUse}>
          {trans.__('Use')}
        </Button>
      )}
    </li>
  );
}

/** Another machine gets prompts only after a confirmation that names it. The safe answer comes first. */
function RemoteQuestion(props: {
  choice: IChoice;
  privacy: string;
  onYes: () => void;
  onNo: () => void;
}): JSX.Element {
  const { trans } = useServices();
  const { model, server } = props.choice;
  const data: Record<string, string> = {
    schema: trans.__('names and types of your data'),
    stats: trans.__('names, types and statistics of your data'),
    samples: trans.__('names, types, statistics and example rows of your data')
  };
  return (
    <div role="alertdialog" aria-label={trans.__('Send to another machine?')} className="jp-CodeAgent-remote">
      <h3>{trans.__('Send to another machine?')}</h3>
      <p>
        {trans.__(
          '%1 runs at %2. Your questions, the code and its results, and %3 are sent there.',
          model,
          server.label,
          data[props.privacy] ?? trans.__('the description of your data')
        )}
      </p>
      <div className="jp-CodeAgent-buttons">
        <Button onClick={props.onNo}>{trans.__('Cancel')}</Button>
        <Button kind="danger" onClick={props.onYes}>
          {trans.__('Send to %1', server.label)}
        </Button>
      </div>
    </div>
  );
}
