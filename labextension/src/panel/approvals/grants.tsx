import { PathExt } from '@jupyterlab/coreutils';
import React from 'react';

import type { KernelConnection } from '../../comm/connection';
import { grantLabel } from '../../common/labels';
import type { IGrant } from '../../protocol/messages';
import { Button, Section } from '../controls/basics';
import { useServices } from '../services';

/** What the user has allowed for longer than once, each with a way to end it; nothing where there is none. */
export function Grants(props: { connection: KernelConnection }): JSX.Element | null {
  const { trans } = useServices();
  const { connection } = props;
  const { grants } = connection.model.state;
  if (grants.length === 0) {
    return null;
  }
  return (
    <Section title={trans.__('Allowed until you revoke it')}>
      <ul className="jp-CodeAgent-grants">
        {grants.map(grant => {
          const words = grantLabel(trans, grant);
          return (
            <li key={`${grant.kind} ${grant.subject}`}>
              <span title={words}>{grantLabel(trans, shortened(grant))}</span>
              <Button
                label={trans.__('Revoke: %1', words)}
                title={trans.__(
                  'From now on you will be asked again; a run in progress keeps the files it has'
                )}
                onClick={() => connection.send({ ...grant, type: 'take_back' })}
              >
                {trans.__('Revoke')}
              </Button>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

/** A file by its last name: the panel is narrow. */
function shortened(grant: IGrant): IGrant {
  return grant.kind === 'mount' ? { ...grant, subject: PathExt.basename(grant.subject) } : grant;
}
