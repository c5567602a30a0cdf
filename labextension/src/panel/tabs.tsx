import React, { useRef } from 'react';

export interface ITab {
  id: string;
  label: string;
  badge?: number;
  /** What the badge counts, as text: it is part of the tab's name for who cannot see it. */
  badgeTitle?: string;
}

/** Tabs as the ARIA practices want them: one is in the tab order, the arrow keys go to the others. */
export function Tabs(props: {
  label: string;
  tabs: readonly ITab[];
  selected: string;
  onSelect: (id: string) => void;
}): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const at = props.tabs.findIndex(tab => tab.id === props.selected);
    const count = props.tabs.length;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: count - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      const next = props.tabs[(to + count) % count];
      props.onSelect(next.id);
      list.current?.querySelector<HTMLElement>(`[data-tab=${next.id}]`)?.focus();
    }
  };
  return (
    <div
      ref={list}
      role="tablist"
      aria-label={props.label}
      className="jp-CodeAgent-tabs"
      onKeyDown={onKeyDown}
    >
      {props.tabs.map(tab => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          id={`jp-CodeAgent-tab-${tab.id}`}
          data-tab={tab.id}
          aria-selected={tab.id === props.selected}
          aria-controls={`jp-CodeAgent-view-${tab.id}`}
          tabIndex={tab.id === props.selected ? 0 : -1}
          onClick={() => props.onSelect(tab.id)}
        >
          {tab.label}
          {tab.badge ? (
            <span className="jp-CodeAgent-count" title={tab.badgeTitle}>
              {tab.badge}
            </span>
          ) : null}
        </button>
      ))}
    </div>
  );
}
