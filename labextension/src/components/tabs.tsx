import React, { useRef } from 'react';

export interface ITab {
  id: string;
  label: string;
  badge?: number;
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
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      const at = props.tabs.findIndex(tab => tab.id === props.selected);
      const next = props.tabs[(at + step + props.tabs.length) % props.tabs.length];
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
          {tab.badge ? <span className="jp-CodeAgent-count">{tab.badge}</span> : null}
        </button>
      ))}
    </div>
  );
}
