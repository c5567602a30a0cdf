import React, { useEffect, useState } from 'react';

import { formatBytes, formatCount } from '../../common/format';
import type { IColumn, IColumnsMessage, IContext, IVariable, Shared } from '../../protocol/messages';
import { Button, Code, Fold, Section } from '../controls/basics';
import { useServices } from '../services';

/** From so many variables or columns on, a field to search them is displayed. */
const MANY = 12;
const SEARCH_MS = 200;

export interface ISwitches {
  onShare: (name: string, shared: Shared) => void;
  onColumns: (name: string, columns: string[], hidden: boolean) => void;
  /** Columns that the kernel has not listed. */
  onFind: (name: string, search: string) => void;
  /** Look at a table, in a new cell; undefined while no cell can be run. */
  onExplore?: (name: string) => void;
}

/** What the prompt would contain, variable by variable, and the switches for it. */
export function Variables(
  props: ISwitches & {
    context: IContext;
    found: IColumnsMessage | null;
    /** Variables that the notebook wants always copied; nobody has agreed to it. */
    asked: ReadonlySet<string>;
  }
): JSX.Element {
  const { trans } = useServices();
  const { context } = props;
  const [search, setSearch] = useState('');
  const matches = context.variables.filter(variable => contains(variable.name, search));
  const others = context.variable_count - context.variables.length;
  return (
    <Section title={trans.__('Variables')} extra={<Total context={context} />}>
      {context.variables.length === 0 && (
        <p className="jp-CodeAgent-quiet">{trans.__('The agent has not inspected any variables yet.')}</p>
      )}
      {context.variables.length > MANY && (
        <Search label={trans.__('Search variables')} value={search} onChange={setSearch} />
      )}
      <ul className="jp-CodeAgent-variables">
        {matches.map(variable => (
          <Variable
            key={variable.name}
            {...props}
            variable={variable}
            asked={props.asked.has(variable.name)}
          />
        ))}
      </ul>
      {others > 0 && (
        <p className="jp-CodeAgent-quiet">
          {trans.__(
            '%1 more variables are not listed. %2 hides one of them.',
            formatCount(others),
            '%agent hide NAME'
          )}
        </p>
      )}
      {context.text && (
        <Fold summary={trans.__('Full text')}>
          <Code code={context.text} label={trans.__('What the model sees of your variables')} copy />
        </Fold>
      )}
    </Section>
  );
}

function Total(props: { context: IContext }): JSX.Element {
  const { trans } = useServices();
  const { tokens, budget_tokens: budget } = props.context;
  return (
    <span
      className="jp-CodeAgent-total jp-CodeAgent-quiet"
      data-over={tokens > budget}
      style={{ '--share': budget > 0 ? Math.min(tokens / budget, 1) : 0 } as React.CSSProperties}
      title={trans.__(
        'The description of all variables for the model, against the token limit. Variables that a prompt mentions are described in more detail.'
      )}
    >
      {trans.__('%1 of %2 tokens', formatCount(tokens), formatCount(budget))}
    </span>
  );
}

function Variable(
  props: ISwitches & { variable: IVariable; found: IColumnsMessage | null; asked: boolean }
): JSX.Element {
  const { trans } = useServices();
  const { variable, onShare, onExplore } = props;
  const isTable = variable.column_count > 0 && variable.shared !== 'hidden' && !variable.withheld;
  const size = variable.size_bytes === null ? '' : formatBytes(variable.size_bytes);
  const details = [withoutName(variable), size].filter(Boolean).join(' · ');
  return (
    <li data-shared={variable.withheld ? 'hidden' : variable.shared}>
      <Fold
        className="jp-CodeAgent-variable"
        summary={
          <>
            <span className="jp-CodeAgent-variableName" title={`${variable.name}: ${details}`}>
              <code>{variable.name}</code>
              <Cost variable={variable} />
            </span>
            <span className="jp-CodeAgent-quiet">{details}</span>
          </>
        }
      >
        <PromptText variable={variable} />
        {variable.column_count > 0 && variable.shared !== 'hidden' && <Columns {...props} />}
      </Fold>
      {isTable && (
        <span className="jp-CodeAgent-explore">
          <Button
            label={trans.__('Explore %1', variable.name)}
            title={trans.__('Overview and findings of this table, as pending cells; no model is used')}
            disabled={!onExplore}
            onClick={() => onExplore?.(variable.name)}
          >
            {trans.__('Explore')}
          </Button>
        </span>
      )}
      <select
        className="jp-CodeAgent-select"
        aria-label={trans.__('Sharing of %1', variable.name)}
        title={trans.__(
          'auto: chosen for each prompt; shared: always copied; hidden: never described, never copied'
        )}
        value={variable.shared}
        onChange={event => onShare(variable.name, event.target.value as Shared)}
      >
        <option value="auto">{trans.__('auto')}</option>
        <option value="shared">{trans.__('shared')}</option>
        <option value="hidden">{trans.__('hidden')}</option>
      </select>
      {props.asked && (
        <p className="jp-CodeAgent-asked">
          {trans.__('The notebook asks to always copy this variable.')}{' '}
          <Button
            label={trans.__('Always copy %1', variable.name)}
            onClick={() => onShare(variable.name, 'shared')}
          >
            {trans.__('Always copy')}
          </Button>
        </p>
      )}
    </li>
  );
}

/** Its tokens, and how many of its columns are hidden. */
function Cost(props: { variable: IVariable }): JSX.Element {
  const { trans } = useServices();
  const { variable } = props;
  const parts = [
    variable.tokens > 0 ? trans.__('%1 tokens', formatCount(variable.tokens)) : '',
    variable.hidden_count > 0
      ? trans._n(
          '%1 column hidden',
          '%1 columns hidden',
          variable.hidden_count,
          formatCount(variable.hidden_count)
        )
      : ''
  ];
  return <span className="jp-CodeAgent-quiet">{parts.filter(Boolean).join(' · ')}</span>;
}

function PromptText(props: { variable: IVariable }): JSX.Element {
  const { trans } = useServices();
  const { variable } = props;
  if (variable.told) {
    return <Code code={variable.told} label={trans.__('What the model sees of %1', variable.name)} />;
  }
  return <p className="jp-CodeAgent-quiet">{whyOmitted(variable)}</p>;

  function whyOmitted({ shared, withheld, type_name: type }: IVariable): string {
    if (shared === 'hidden') {
      return type
        ? trans.__('The model does not see it, and it is not copied.')
        : trans.__('The notebook hides it; no such variable exists right now.');
    }
    if (withheld) {
      return trans.__('Hidden entirely, because some of its columns are hidden: %1.', withheld);
    }
    return type
      ? trans.__('Omitted (token limit). Included when your prompt mentions it.')
      : trans.__('No such variable exists right now.');
  }
}

function Columns(
  props: Pick<ISwitches, 'onColumns' | 'onFind'> & { variable: IVariable; found: IColumnsMessage | null }
): JSX.Element {
  const { trans } = useServices();
  const { variable, found, onFind, onColumns } = props;
  const [search, setSearch] = useState('');
  const isPart = variable.column_count > variable.columns.length;
  useEffect(() => {
    if (!isPart || search === '') {
      return;
    }
    const timer = window.setTimeout(() => onFind(variable.name, search), SEARCH_MS);
    return () => window.clearTimeout(timer);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `onFind` is a new function at each drawing
  }, [isPart, search, variable.name]);
  const answer = isPart && found?.name === variable.name && found.search === search ? found : null;
  const columns = answer?.columns ?? variable.columns.filter(column => contains(column.name, search));
  const count = answer?.column_count ?? (search === '' ? variable.column_count : columns.length);
  return (
    <fieldset className="jp-CodeAgent-columns">
      <legend className="jp-CodeAgent-quiet">{trans.__('Columns that may be described and copied')}</legend>
      {variable.column_count > MANY && (
        <Search label={trans.__('Search columns of %1', variable.name)} value={search} onChange={setSearch} />
      )}
      <ul>
        {columns.map(column => (
          <Column
            key={column.name}
            column={column}
            onHide={hidden => onColumns(variable.name, [column.name], hidden)}
          />
        ))}
      </ul>
      {count > columns.length && (
        <p className="jp-CodeAgent-quiet">
          {trans.__(
            '%1 of %2 columns shown; search for the others.',
            formatCount(columns.length),
            formatCount(count)
          )}
        </p>
      )}
      {search !== '' && columns.length > 1 && (
        <div className="jp-CodeAgent-buttons">
          <Button onClick={() => onColumns(variable.name, names(columns, false), true)}>
            {trans.__('Hide these')}
          </Button>
          <Button onClick={() => onColumns(variable.name, names(columns, true), false)}>
            {trans.__('Show these')}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

function Column(props: { column: IColumn; onHide: (hidden: boolean) => void }): JSX.Element {
  const { name, dtype, hidden } = props.column;
  return (
    <li data-hidden={hidden}>
      <label title={`${name} ${dtype}`}>
        <input type="checkbox" checked={!hidden} onChange={event => props.onHide(!event.target.checked)} />
        <code>{name}</code>
        <span className="jp-CodeAgent-quiet">{dtype}</span>
      </label>
    </li>
  );
}

function Search(props: { label: string; value: string; onChange: (value: string) => void }): JSX.Element {
  return (
    <input
      type="search"
      className="jp-CodeAgent-input"
      aria-label={props.label}
      placeholder={props.label}
      value={props.value}
      onChange={event => props.onChange(event.target.value)}
    />
  );
}

function names(columns: readonly IColumn[], hidden: boolean): string[] {
  return columns.filter(column => column.hidden === hidden).map(column => column.name);
}

function contains(name: string, search: string): boolean {
  return name.toLowerCase().includes(search.toLowerCase());
}

/** The headline is one line by itself: `df: DataFrame 715x14`. */
function withoutName(variable: IVariable): string {
  const { headline, name, type_name } = variable;
  return headline.startsWith(`${name}: `) ? headline.slice(name.length + 2) : headline || type_name;
}
