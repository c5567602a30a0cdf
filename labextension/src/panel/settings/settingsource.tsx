import { LabIcon } from '@jupyterlab/ui-components';
import React from 'react';

import { attempt } from '../../common/attempt';
import type { ISetting } from '../../protocol/messages';
import { Button } from '../controls/basics';
import { useServices } from '../services';

const lockIcon = new LabIcon({
  name: 'jupyter-codeagent:lock',
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16"><path class="jp-icon3" fill="#616161" d="M8 1a3.5 3.5 0 0 0-3.5 3.5V7H4a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h8a1 1 0 0 0 1-1V8a1 1 0 0 0-1-1h-.5V4.500A3.500 3.500 0 0 0 8 1zm2 6H6V4.500a2 2 0 1 1 4 0z"/></svg>'
});

/** Where the value of a setting comes from; one that was set here can be kept. */
export function SettingSource(props: { setting: ISetting }): JSX.Element {
  const { trans, preferences } = useServices();
  const { setting } = props;
  const labels: Record<ISetting['source'], string> = {
    session: trans.__('set in this notebook’s kernel'),
    file: trans.__('from a configuration file'),
    environment: trans.__('from the environment'),
    user: trans.__('from your settings'),
    default: trans.__('default'),
    administrator: setting.fixed
      ? trans.__('fixed by your administrator')
      : trans.__('limited by your administrator')
  };
  const limit =
    !setting.fixed && setting.limit !== null
      ? trans.__('at most %1 (set by your administrator)', String(setting.limit))
      : '';
  return (
    <span className="jp-CodeAgent-source jp-CodeAgent-quiet">
      {(setting.fixed || setting.limit !== null) && (
        <lockIcon.react tag="span" width="12px" height="12px" aria-hidden />
      )}
      <span>{[labels[setting.source], limit].filter(Boolean).join(' · ')}</span>
      {setting.source === 'session' && preferences.canSave && (
        <Button
          label={trans.__('Use %1 in all notebooks', setting.name)}
          title={trans.__('Save it in your JupyterLab settings')}
          onClick={() =>
            void attempt(trans, trans.__('Use in all notebooks'), () =>
              preferences.save({ [setting.name]: setting.value })
            )
          }
        >
          {trans.__('Use in all notebooks')}
        </Button>
      )}
    </span>
  );
}
