import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import { Attention } from './attention';
import { addCommands, Commands } from './commands';
import { KernelConnections } from './connections';
import { CellDecisions } from './decisions';
import { HistoryClient } from './history';
import { addInteractiveRenderer } from './interactive';
import { libraries } from './interactive_libraries';
import { Marks } from './marks';
import { AgentPanel } from './panel';
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
  optional: [ITranslator, ISettingRegistry, ILayoutRestorer, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    editors: IEditorServices,
    rendermime: IRenderMimeRegistry,
    translator: ITranslator | null,
    settings: ISettingRegistry | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null
  ): ICodeAgent => {
    const trans = (translator ?? nullTranslator).load('jupyter_codeagent');
    const history = new HistoryClient(app.serviceManager.serverSettings);
    addInteractiveRenderer({ rendermime, trans, load: libraries(history) });
    const connections = new KernelConnections(tracker);
    const decisions = new CellDecisions({
      connections,
      history,
      trans,
      activate: panel => app.shell.activateById(panel.id)
    });
    const marks = new Marks(tracker, decisions, trans);
    const services = { trans, tracker, editors, rendermime, connections, marks, decisions, history };
    const panel = new AgentPanel(services);
    const open = (): void => {
      if (!panel.isAttached) {
        app.shell.add(panel, 'right', { rank: 900 });
      }
      app.shell.activateById(panel.id);
    };
    app.shell.add(panel, 'right', { rank: 900, type: 'Code agent' });
    restorer?.add(panel, panel.id);

    const attention = new Attention(connections, panel, trans, open);
    addCommands({ commands: app.commands, trans, tracker, connections, decisions, open });
    const category = trans.__('Code Agent');
    Object.values(Commands).forEach(command => palette?.addItem({ command, category }));
    void settings?.load(PLUGIN_ID).then(loaded => {
      const read = (): void => {
        attention.settings = {
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
  connections.added.connect((_, connection) => connection.model.changed.connect(() => changed.emit()));
  return Object.defineProperty(view, 'changed', { value: changed });
}

export default plugin;
