import React from 'react';

import { formatBytes } from '../format';
import type { IVariable, Shared } from '../protocol';
import { Section } from './basics';
import { useServices } from './services';

export function Variables(props: {
  variables: readonly IVariable[];
  onShare: (name: string, shared: Shared) => void;
}): JSX.Element {
  const { trans } = useServices();
  return (
    <Section title={trans.__('Variables')}>
      {props.variables.length === 0 ? (
        <p className="jp-CodeAgent-quiet">{trans.__('The agent has looked at no variables yet.')}</p>
      ) : (
        <ul className="jp-CodeAgent-variables">
          {props.variables.map(variable => (
            <Variable key={variable.name} variable={variable} onShare={props.onShare} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function Variable(props: {
  variable: IVariable;
  onShare: (name: string, shared: Shared) => void;
}): JSX.Element {
  const { trans } = useServices();
  const { variable } = props;
  const size = variable.size_bytes === null ? '' : formatBytes(variable.size_bytes);
  const details = [withoutName(variable), size].filter(Boolean).join(' · ');
  return (
    <li data-shared={variable.shared}>
      <span className="jp-CodeAgent-variable" title={`${variable.name}: ${details}`}>
        <code>{variable.name}</code>
        <span className="jp-CodeAgent-quiet">{details}</span>
      </span>
      <select
        className="jp-CodeAgent-select"
        aria-label={trans.__('Sharing of %1', variable.name)}
        title={trans.__(
          'auto: chosen for each prompt; shared: always copied; hidden: never told of, never copied'
        )}
        value={variable.shared}
        onChange={event => props.onShare(variable.name, event.target.value as Shared)}
      >
        <option value="auto">{trans.__('auto')}</option>
        <option value="shared">{trans.__('shared')}</option>
        <option value="hidden">{trans.__('hidden')}</option>
      </select>
    </li>
  );
}

/** The headline is one line by itself: `df: DataFrame 715x14`. */
function withoutName(variable: IVariable): string {
  const { headline, name, type_name } = variable;
  return headline.startsWith(`${name}: `) ? headline.slice(name.length + 2) : headline || type_name;
}
