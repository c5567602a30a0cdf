import React, { useEffect, useRef, useState } from 'react';

import { formatCount } from '../../common/format';
import type { ICounted, IOverview, IRunFilter, Outcome } from '../../history/client';
import { outcomeLabel } from '../run/outcome';
import { useServices } from '../services';

const TYPING_MS = 200;
const DAY_S = 86_400;

/** Search and filters; each option has the number of its runs. */
export function HistoryFilters(props: {
  filter: IRunFilter;
  overview: IOverview | null;
  onChange: (change: IRunFilter) => void;
  /** The list shows runs of the notebook in front only. */
  here: { notebook: string; on: boolean; onChange: (on: boolean) => void };
}): JSX.Element {
  const { trans } = useServices();
  const { filter, overview, onChange, here } = props;
  return (
    <div role="search" aria-label={trans.__('Runs')} className="jp-CodeAgent-filters">
      <Search value={filter.search ?? ''} onChange={search => onChange({ search })} />
      <div className="jp-CodeAgent-selects">
        <FilterSelect
          label={trans.__('Notebook')}
          all={trans.__('All notebooks')}
          value={filter.notebook ?? ''}
          choices={overview?.notebooks ?? []}
          disabled={here.on}
          onChange={notebook => onChange({ notebook })}
        />
        <FilterSelect
          label={trans.__('Outcome')}
          all={trans.__('All outcomes')}
          value={filter.outcome ?? ''}
          choices={overview?.outcomes ?? []}
          word={name => outcomeLabel(trans, name as Outcome)}
          onChange={outcome => onChange({ outcome })}
        />
        <FilterSelect
          label={trans.__('Model')}
          all={trans.__('All models')}
          value={filter.model ?? ''}
          choices={overview?.models ?? []}
          onChange={model => onChange({ model })}
        />
        <Time since={filter.since} onChange={since => onChange({ since })} />
      </div>
      <label className="jp-CodeAgent-here" title={here.notebook || trans.__('No notebook is open.')}>
        <input
          type="checkbox"
          checked={here.on}
          disabled={!here.notebook && !here.on}
          onChange={event => here.onChange(event.target.checked)}
        />
        {trans.__('Only this notebook')}
      </label>
    </div>
  );
}

/** What is typed shows at once; it is searched for when the typing pauses. */
function Search(props: { value: string; onChange: (text: string) => void }): JSX.Element {
  const { trans } = useServices();
  const { value, onChange } = props;
  const [text, setText] = useState(value);
  const searched = useRef(value);
  useEffect(() => {
    // The list follows what was typed here with a delay: that does not take back what was typed since.
    if (value !== searched.current) {
      searched.current = value;
      setText(value);
    }
  }, [value]);
  useEffect(() => {
    if (text === searched.current) {
      return;
    }
    const timer = window.setTimeout(() => {
      searched.current = text;
      onChange(text);
    }, TYPING_MS);
    return () => window.clearTimeout(timer);
  }, [text, onChange]);
  return (
    <input
      type="search"
      className="jp-CodeAgent-input"
      value={text}
      placeholder={trans.__('Search prompts, code and text')}
      aria-label={trans.__('Search the history')}
      onChange={event => setText(event.target.value)}
    />
  );
}

function FilterSelect(props: {
  label: string;
  all: string;
  value: string;
  choices: readonly ICounted[];
  word?: (name: string) => string;
  disabled?: boolean;
  onChange: (name: string) => void;
}): JSX.Element {
  const { value, choices, word = (name: string) => name } = props;
  // What is chosen stays in the list when nothing has it any more.
  const options =
    value && !choices.some(one => one.name === value) ? [{ name: value, count: 0 }, ...choices] : choices;
  return (
    <select
      className="jp-CodeAgent-select"
      aria-label={props.label}
      title={value || props.all}
      value={value}
      disabled={props.disabled}
      data-chosen={value !== ''}
      onChange={event => props.onChange(event.target.value)}
    >
      <option value="">{props.all}</option>
      {options.map(({ name, count }) => (
        <option key={name} value={name}>
          {`${word(name)} (${formatCount(count)})`}
        </option>
      ))}
    </select>
  );
}

function Time(props: { since?: number; onChange: (since: number | undefined) => void }): JSX.Element {
  const { trans } = useServices();
  const [days, setDays] = useState('');
  const { since } = props;
  useEffect(() => {
    if (since === undefined) {
      setDays('');
    }
  }, [since]);
  return (
    <select
      className="jp-CodeAgent-select"
      aria-label={trans.__('Time')}
      value={days}
      data-chosen={days !== ''}
      onChange={event => {
        setDays(event.target.value);
        props.onChange(event.target.value ? startOf(Number(event.target.value)) : undefined);
      }}
    >
      <option value="">{trans.__('Any time')}</option>
      <option value="1">{trans.__('Today')}</option>
      <option value="7">{trans.__('Last 7 days')}</option>
      <option value="30">{trans.__('Last 30 days')}</option>
    </select>
  );
}

/** Midnight of the first of so many days that end today; seconds since the epoch. */
function startOf(days: number): number {
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  return Math.floor(midnight.getTime() / 1000) - (days - 1) * DAY_S;
}
