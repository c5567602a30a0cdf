import React from 'react';

import { formatCount } from '../../common/format';
import type { IHouseRules } from '../../protocol/messages';
import { Section } from '../controls/basics';
import { useServices } from '../services';

/** What the model is told of the user's files with house rules; nothing where there is no such file. */
export function HouseRules(props: { files: IHouseRules[] }): JSX.Element | null {
  const { trans } = useServices();
  const { files } = props;
  if (files.length === 0) {
    return null;
  }
  return (
    <Section
      title={trans.__('House rules')}
      extra={
        <span
          className="jp-CodeAgent-quiet"
          title={trans.__('They are sent to the model with each question.')}
        >
          {trans.__('%1 tokens', formatCount(files.reduce((sum, file) => sum + file.tokens, 0)))}
        </span>
      }
    >
      {files.map(file => (
        <React.Fragment key={file.path}>
          <p className="jp-CodeAgent-quiet">
            <code>{file.path}</code>
          </p>
          {file.told && (
            <pre
              className="jp-CodeAgent-plain"
              tabIndex={0}
              role="group"
              aria-label={trans.__('What the model sees of %1', file.path)}
            >
              {file.told}
            </pre>
          )}
          {file.left_out && <p className="jp-CodeAgent-quiet">{trans.__('Left out: %1', file.left_out)}</p>}
        </React.Fragment>
      ))}
    </Section>
  );
}
