import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import { CellActions } from './cells/cellactions';
import { CellDecisions } from './cells/celldecisions';
import { CellDecorations } from './cells/celldecorations';
import { Receipts } from './cells/receipts';
import { Refinements } from './cells/refinements';
import { ResultReveal } from './cells/resultreveal';
import { ResultVersions } from './cells/resultversions';
import { keysOf } from './cells/shortcuts';
import { libraries } from './charts/libraries';
import { addInteractiveRenderer } from './charts/renderer';
import { KernelConnections } from './comm/connections';
import { Preferences } from './comm/preferences';
import { findWebClient } from './comm/webclient';
import { addCommands, CommandIDs } from './commands';
import { showsNotebooks } from './common/application';
import { attempt } from './common/attempt';
import { HistoryActions } from './history/actions';
import { HistoryClient } from './history/client';
import { RecordSync } from './history/recordsync';
import { RunCellStates } from './history/runcells';
import { RunList } from './history/runlist';
import { Notifications } from './notifications/notifications';
import { StatusItem } from './notifications/statusitem';
import { keepDraftsOfRenamed } from './panel/ask/drafts';
import { frontEndOf } from './panel/history/comparisonwidget';
import { PanelMemory } from './panel/panelmemory';
import type { IPanelServices } from './panel/services';
import { AgentPanel } from './panel/sidepanel';
import { ICodeAgent } from './tokens';

export { ICodeAgent };

const PLUGIN_ID = 'jupyter-codeagent:plugin';

// Notebook 7 has no layout restorer: only what every front end has may be required.
const plugin: JupyterFrontEndPlugin<ICodeAgent> = {
  id: PLUGIN_ID,
  description: 'Side panel of the %%agent magic: runs, decisions, pending cells and history.',
  autoStart: true,
  provides: ICodeAgent,
  requires: [INotebookTracker, IEditorServices, IRenderMimeRegistry],
  optional: [ITranslator, ISettingRegistry, ILayoutRestorer, ICommandPalette, IStateDB, IStatusBar],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    editors: IEditorServices,
    rendermime: IRenderMimeRegistry,
    translator: ITranslator | null,
    settings: ISettingRegistry | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    database: IStateDB | null,
    statusBar: IStatusBar | null
  ): ICodeAgent => {
    const trans = (translator ?? nullTranslator).load('jupyter_codeagent');
    const history = new HistoryClient(app.serviceManager.serverSettings);
    addInteractiveRenderer({ rendermime, trans, load: libraries(history) });
    const loading = settings?.load(PLUGIN_ID) ?? null;
    const preferences = new Preferences(loading);
    const connections = new KernelConnections(tracker, preferences, () => findWebClient(app.commands));
    if (!showsNotebooks()) {
      return readOnlyView(connections); // never started: no notebook will come to this page
    }
    const sync = new RecordSync({ connections, tracker, history, trans });
    const cellStates = new RunCellStates({ connections, tracker, sync });
    const decisions = new CellDecisions({
      connections,
      history,
      sync,
      trans,
      activate: panel => app.shell.activateById(panel.id)
    });
    new ResultReveal({ tracker, connections });
    new Receipts({ connections, tracker, history });
    const actions = new CellActions({ connections, decisions, trans });
    const keys = keysOf(app.commands, CommandIDs);
    const refinements = new Refinements({ connections, trans });
    const versions = new ResultVersions({
      ...{ connections, tracker, decisions, history, sync, trans },
      compare: (left, right) => historyActions.compare(left, right)
    });
    const memory = new PanelMemory(database);
    const runs = new RunList(history);
    const showRun = (id: string): void => {
      memory.set('tab', 'history');
      runs.view = { kind: 'run', id };
      open();
      panel.takeFocus('.jp-CodeAgent-runPage button');
    };
    const decorations = new CellDecorations(tracker, {
      decisions,
      actions,
      versions,
      refinements,
      sync,
      trans,
      keys,
      readRun: async (notebook, runId) =>
        connections.of(notebook)?.model.state.runs.find(run => run.id === runId) ?? history.get(runId),
      showRun
    });
    keepDraftsOfRenamed(tracker, memory);
    const notifications: Notifications = new Notifications({
      connections,
      tracker,
      decorations,
      trans,
      open: () => open(),
      show: () => show(),
      isPanelVisible: () => panel.isVisible,
      activate: notebook => app.shell.activateById(notebook.id),
      setBadge: (decisions, caption) => panel.setBadge(decisions, caption)
    });
    const frontEnd = frontEndOf(app, () => services);
    const historyActions = new HistoryActions({ trans, tracker, decisions, history, runs, frontEnd });
    const services: IPanelServices = {
      ...{
        trans,
        tracker,
        editors,
        rendermime,
        connections,
        decorations,
        decisions,
        actions,
        memory,
        notifications,
        preferences,
        keys
      },
      ...{ history, historyActions, runs, cellStates }
    };
    const panel = new AgentPanel(services);
    const open = (): void => {
      if (!panel.isAttached) {
        app.shell.add(panel, 'right', { rank: 900 });
      }
      app.shell.activateById(panel.id);
    };
    const show = (): void => {
      open();
      panel.takeFocus();
    };
    app.shell.add(panel, 'right', { rank: 900, type: 'Code agent' });
    restorer?.add(panel, panel.id);

    const statusItem = new StatusItem(notifications, trans);
    statusBar?.registerStatusItem('jupyter-codeagent:status', {
      item: statusItem,
      isActive: () => statusItem.isActive,
      align: 'left',
      rank: 200
    });
    const review = (): void => {
      open();
      memory.set('tab', 'now');
      panel.takeFocus('.jp-CodeAgent-approval h3');
    };
    const commands = app.commands;
    addCommands({
      ...{
        review,
        commands,
        trans,
        tracker,
        connections,
        decisions,
        actions,
        decorations,
        versions,
        showRun
      },
      open: show
    });
    const category = trans.__('Code Agent');
    Object.values(CommandIDs).forEach(command => palette?.addItem({ command, category }));
    void attempt(trans, trans.__('Read the settings of the code agent'), async () => {
      const loaded = await loading;
      if (!loaded) {
        return; // a front end without settings
      }
      const read = (): void => {
        actions.showButtons = loaded.get('cellButtons').composite === true;
        notifications.settings = {
          openOnDecision: loaded.get('openOnDecision').composite === true,
          openOnFirstRun: loaded.get('openOnFirstRun').composite === true
        };
      };
      loaded.changed.connect(read);
      read();
    });
    connections.start();
    return readOnlyView(connections);
  }
};

function readOnlyView(connections: KernelConnections): ICodeAgent {
  const view = {
    get state() {
      return connections.current?.model.state ?? null;
    }
  } as ICodeAgent;
  const changed = new Signal<ICodeAgent, void>(view);
  connections.changed.connect(() => changed.emit());
  connections.added.connect((_, connection) => {
    connection.model.changed.connect(() => changed.emit());
    connection.model.progressed.connect(() => changed.emit());
  });
  return Object.defineProperty(view, 'changed', { value: changed });
}

export default plugin;
