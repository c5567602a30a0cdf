import { ReactWidget } from '@jupyterlab/ui-components';
import React, { useEffect, useState } from 'react';

import { History } from './components/history';
import { Now } from './components/now';
import type { IPanelServices } from './components/services';
import { ServicesProvider, useServices, useSignal } from './components/services';
import { Tabs } from './components/tabs';
import { agentIcon } from './icon';
import { pendingRuns, sharedNotebook } from './notebook';
import { isRunning } from './record';

/** The side panel. */
export class AgentPanel extends ReactWidget {
  constructor(private readonly _services: IPanelServices) {
    super();
    const { trans } = _services;
    this.id = 'jupyter-codeagent-panel';
    this.addClass('jp-CodeAgent');
    this.title.icon = agentIcon;
    this.title.caption = trans.__('Code agent');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Code agent'));
  }

  /** Mark the tab of the panel: a decision waits. */
  set waiting(waiting: boolean) {
    this.title.className = waiting ? 'jp-CodeAgent-waitingTab' : '';
  }

  protected render(): JSX.Element {
    return (
      <ServicesProvider services={this._services}>
        <PanelView />
      </ServicesProvider>
    );
  }
}

function PanelView(): JSX.Element {
  const { trans } = useServices();
  const [tab, setTab] = useState('now');
  const waiting = useWaiting();
  const version = useEndedRuns();
  // A decision must not stay hidden behind the history.
  useEffect(() => {
    if (waiting.proposals > 0) {
      setTab('now');
    }
  }, [waiting.proposals]);
  return (
    <>
      <Tabs
        label={trans.__('Code agent')}
        tabs={[
          { id: 'now', label: trans.__('Now'), badge: waiting.proposals + waiting.cells },
          { id: 'history', label: trans.__('History') }
        ]}
        selected={tab}
        onSelect={setTab}
      />
      <div
        role="tabpanel"
        id={`jp-CodeAgent-view-${tab}`}
        aria-labelledby={`jp-CodeAgent-tab-${tab}`}
        className="jp-CodeAgent-view"
      >
        {tab === 'now' ? <Now /> : <History version={version} />}
      </div>
    </>
  );
}

/** How much waits in the current notebook. */
function useWaiting(): { proposals: number; cells: number } {
  const { connections, marks, tracker } = useServices();
  useSignal(connections.changed);
  useSignal(marks.changed);
  useSignal(connections.current?.model.changed);
  const notebook = sharedNotebook(tracker.currentWidget);
  return {
    proposals: connections.current?.model.state.proposals.length ?? 0,
    cells: notebook ? pendingRuns(notebook).length : 0
  };
}

/** Changes when a run of the current kernel ended or its cells were decided: the history then has news. */
function useEndedRuns(): number {
  const { connections } = useServices();
  const runs = connections.current?.model.state.runs ?? [];
  return (
    runs.filter(run => !isRunning(run)).length * 1000 + runs.filter(r => r.cell_state !== 'pending').length
  );
}
