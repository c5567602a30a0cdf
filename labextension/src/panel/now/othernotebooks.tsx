import React from 'react';

import { notebookName } from '../../notifications/activity';
import { Button } from '../controls/basics';
import { useServices, useSignal } from '../services';

/** Decisions that wait in other notebooks of this page. */
export function OtherNotebooks(props: { except?: string }): JSX.Element | null {
  const { trans, notifications } = useServices();
  useSignal(notifications.changed);
  const others = notifications.activity.filter(one => one.decisions > 0 && one.kernelId !== props.except);
  return others.length === 0 ? null : (
    <ul className="jp-CodeAgent-elsewhere" aria-label={trans.__('Decisions in other notebooks')}>
      {others.map(one => (
        <li key={one.kernelId}>
          <span>
            {trans._n(
              '%1 decision waiting in %2',
              '%1 decisions waiting in %2',
              one.decisions,
              notebookName(trans, one)
            )}
          </span>
          <Button onClick={() => notifications.reveal(one.kernelId)}>{trans.__('Go there')}</Button>
        </li>
      ))}
    </ul>
  );
}
