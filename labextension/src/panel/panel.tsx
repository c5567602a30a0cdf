import React, { useEffect, useRef } from 'react';

import { pendingRuns } from '../notebook/cellstates';
import { sharedNotebook } from '../notebook/panels';
import { isRunning } from '../protocol/run';
import { Ask } from './ask/ask';
import { ContextTab } from './context/context';
import { Problem } from './controls/basics';
import { keepFocusIn } from './focuskeeper';
import { History } from './history/history';
import { Now } from './now/now';
import type { IPanelServices } from './services';
import { ServicesProvider, useRemembered, useServices, useSignal } from './services';
import { SettingsTab } from './settings/settings';
import { Tabs } from './tabs';

/** What the side panel shows. */
export default function PanelContent(props: { services: IPanelServices }): JSX.Element {
  return (
    <ServicesProvider services={props.services}>
      <PanelView />
    </ServicesProvider>
  );
}

/** In the state database. */
const TAB = 'tab';

export function PanelView(): JSX.Element {
  const { trans, memory, connections } = useServices();
  const remembered = useRemembered(TAB);
  const waiting = useWaiting();
  const unusable = connections.current?.model.state.settings.problem;
  const version = useEndedRuns();
  const view = useRef<HTMLDivElement>(null);
  useEffect(() => keepFocusIn(view.current!.parentElement!), []);
  const tabs = [
    {
      id: 'now',
      label: trans.__('Now'),
      badge: waiting.proposals + waiting.cells,
      badgeTitle: trans.__('waiting for your decision')
    },
    { id: 'context', label: trans.__('Context') },
    { id: 'history', label: trans.__('History') },
    { id: 'model', label: trans.__('Model') }
  ];
  const tab = tabs.find(one => one.id === remembered)?.id ?? 'now';
  // A decision must not stay hidden behind the history; whoever is typing there is not torn away from it.
  useEffect(() => {
    if (waiting.proposals > 0 && !isTyping(view.current)) {
      memory.set(TAB, 'now');
    }
  }, [memory, waiting.proposals]);
  return (
    <>
      <Tabs
        label={trans.__('Code agent')}
        tabs={tabs}
        selected={tab}
        onSelect={selected => memory.set(TAB, selected)}
      />
      <div
        ref={view}
        role="tabpanel"
        id={`jp-CodeAgent-view-${tab}`}
        aria-labelledby={`jp-CodeAgent-tab-${tab}`}
        className="jp-CodeAgent-view"
      >
        {unusable && <Problem>{trans.__('Cannot run. %1', unusable)}</Problem>}
        {tab === 'now' && <Now />}
        {tab === 'context' && <ContextTab />}
        {tab === 'model' && <SettingsTab />}
        {tab === 'history' && <History version={version} />}
      </div>
      {tab === 'now' && <Ask />}
    </>
  );
}

function isTyping(view: HTMLElement | null): boolean {
  const focused = document.activeElement;
  const fields = 'textarea, [contenteditable=true], input:not([type=checkbox], [type=radio])';
  return view !== null && view.contains(focused) && focused!.matches(fields);
}

/** How much waits in the current notebook. */
function useWaiting(): { proposals: number; cells: number } {
  const { connections, decorations, tracker } = useServices();
  useSignal(connections.changed);
  useSignal(decorations.changed);
  useSignal(connections.current?.model.changed);
  const notebook = sharedNotebook(tracker.currentWidget);
  return {
    proposals: connections.current?.model.state.proposals.length ?? 0,
    cells: notebook ? pendingRuns(notebook).length : 0
  };
}

/** Changes when a run of the current kernel ended or its cells were decided: the history then has news. */
function useEndedRuns(): number {
  const { connections, cellStates } = useServices();
  useSignal(cellStates.changed);
  const runs = connections.current?.model.state.runs ?? [];
  return runs.filter(run => !isRunning(run)).length + cellStates.version * 1000;
}
