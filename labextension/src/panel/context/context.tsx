import { UUID } from '@lumino/coreutils';
import React from 'react';

import type { KernelConnection } from '../../comm/connection';
import { attempt } from '../../common/attempt';
import { sharedNotebook } from '../../notebook/panels';
import { askedToShare } from '../../notebook/sharingmetadata';
import { exploreCell, findBlocker, insertAndRun } from '../../prompts/askcell';
import { Empty } from '../controls/basics';
import { useReadyConnection, useServices } from '../services';
import { PrivacyChoice } from '../settings/privacy';
import { HouseRules } from './houserules';
import { Variables } from './variables';

/** What the model sees of the current notebook's variables, the switches for it, and the house rules. */
export function ContextTab(): JSX.Element {
  const { trans } = useServices();
  const connection = useReadyConnection();
  if (!connection) {
    return <Empty>{trans.__('Load the agent in this notebook to see here what the model sees.')}</Empty>;
  }
  return <ContextView key={connection.kernel.id} connection={connection} />;
}

function ContextView(props: { connection: KernelConnection }): JSX.Element {
  const { tracker, trans } = useServices();
  const { connection } = props;
  const panel = tracker.currentWidget;
  const { context, found } = connection.model.state;
  return (
    <>
      <PrivacyChoice connection={connection} />
      <Variables
        context={context}
        found={found}
        asked={askedToShare(sharedNotebook(panel), context.sharing)}
        onShare={(name, shared) => {
          const id = UUID.uuid4();
          if (connection.send({ type: 'share', id, name, shared })) {
            connection.model.setShared(id, name, shared);
          }
        }}
        onColumns={(name, columns, hidden) => {
          const id = UUID.uuid4();
          if (connection.send({ type: 'share_columns', id, name, columns, hidden })) {
            connection.model.setColumns(id, name, columns, hidden);
          }
        }}
        onExplore={
          findBlocker(panel, connection.model.state) === null
            ? name =>
                void attempt(trans, trans.__('Explore %1', name), () =>
                  insertAndRun(panel!, exploreCell(name))
                )
            : undefined
        }
        onFind={(name, search) => connection.send({ type: 'find_columns', name, search })}
      />
      <HouseRules files={context.house_rules} />
    </>
  );
}
