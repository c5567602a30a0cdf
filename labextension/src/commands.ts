import type { Cell } from '@jupyterlab/cells';
import type { CommandRegistry } from '@lumino/commands';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { CellActions } from './cells/cellactions';
import type { CellDecisions } from './cells/celldecisions';
import type { CellDecorations } from './cells/celldecorations';
import { FAILED_CLASS, RESULT_CLASS } from './cells/cellfooters';
import { KEPT_CLASS, acceptedRunId } from './cells/originbadge';
import type { ResultVersions } from './cells/resultversions';
import type { KernelConnections } from './comm/connections';
import { isNotebook7 } from './common/application';
import { attempt } from './common/attempt';
import { agentIcon } from './common/icons';
import { isPending, pendingRuns } from './notebook/cellstates';
import { sharedNotebook } from './notebook/panels';
import { provenance } from './notebook/provenance';
import type { ISharedCell } from './notebook/sharednotebook';
import { isRunning } from './protocol/run';

export const CommandIDs = {
  open: 'jupyter-codeagent:open',
  review: 'jupyter-codeagent:review',
  stop: 'jupyter-codeagent:stop',
  accept: 'jupyter-codeagent:accept',
  apply: 'jupyter-codeagent:accept-and-run',
  edit: 'jupyter-codeagent:edit',
  discard: 'jupyter-codeagent:discard',
  acceptAll: 'jupyter-codeagent:accept-all',
  discardAll: 'jupyter-codeagent:discard-all',
  next: 'jupyter-codeagent:next-pending',
  previous: 'jupyter-codeagent:previous-pending',
  refine: 'jupyter-codeagent:refine',
  earlierVersion: 'jupyter-codeagent:earlier-version',
  laterVersion: 'jupyter-codeagent:later-version',
  showRun: 'jupyter-codeagent:show-run',
  undo: 'jupyter-codeagent:undo-insertion',
  fix: 'jupyter-codeagent:fix',
  explain: 'jupyter-codeagent:explain',
  askFrom: 'jupyter-codeagent:ask-from'
} as const;

export interface ICommandsOptions {
  commands: CommandRegistry;
  trans: TranslationBundle;
  tracker: INotebookTracker;
  connections: KernelConnections;
  decisions: CellDecisions;
  actions: CellActions;
  decorations: CellDecorations;
  versions: ResultVersions;
  open: () => void;
  /** The page of a run, in the panel. */
  showRun: (runId: string) => void;
  /** Bring the first waiting decision into view and put the focus on its title, never on a button. */
  review: () => void;
}

/** Every action of panel and cells as a command, for the palette, menus and the user's own keys. */
export function addCommands(options: ICommandsOptions): void {
  const { commands, trans, decisions, connections, tracker, actions } = options;
  const add = (id: string, label: string, execute: () => unknown, isEnabled: () => boolean): void => {
    const describedBy = { args: { type: 'object', properties: {} } };
    // Whoever presses a key waits for nothing: a rejection would reach the console only.
    const run = (): Promise<void> => attempt(trans, label, execute);
    commands.addCommand(id, { label, execute: run, isEnabled, describedBy });
  };
  const onPending = (id: string, label: string, act: (at: IPendingCell) => unknown): void => {
    const execute = (): unknown => {
      const at = pendingCell(tracker.currentWidget);
      return at && act(at);
    };
    add(id, label, execute, () => pendingCell(tracker.currentWidget) !== null);
  };
  const onNotebook = (id: string, label: string, act: (panel: NotebookPanel) => unknown): void =>
    add(
      id,
      label,
      () => tracker.currentWidget && act(tracker.currentWidget),
      () => hasPending(tracker.currentWidget)
    );

  commands.addCommand(CommandIDs.open, {
    label: trans.__('Show the Code Agent'),
    icon: agentIcon,
    execute: options.open,
    // JupyterLab has a tab for the panel; Notebook 7 would hide it in a menu of a menu.
    isVisible: args => args.toolbar !== true || isNotebook7(),
    describedBy: { args: { type: 'object', properties: { toolbar: { type: 'boolean' } } } }
  });
  add(
    CommandIDs.review,
    trans.__('Go to the Waiting Decision'),
    options.review,
    () => (connections.current?.model.state.proposals.length ?? 0) > 0
  );
  add(
    CommandIDs.stop,
    trans.__('Stop the Agent’s Run'),
    () => runningIds(connections).forEach(id => connections.current?.send({ type: 'stop', run_id: id })),
    () => runningIds(connections).length > 0
  );
  onPending(CommandIDs.accept, trans.__('Accept Pending Cells of This Run'), at =>
    decisions.accept(at.panel, at.runId)
  );
  onPending(CommandIDs.apply, trans.__('Accept Pending Cell and Run It in Your Kernel'), at =>
    decisions.apply(at.panel, at.cellId)
  );
  onPending(CommandIDs.edit, trans.__('Edit Pending Cell'), at => decisions.edit(at.panel, at.cellId));
  onPending(CommandIDs.discard, trans.__('Discard Pending Cells of This Run'), at =>
    decisions.discard(at.panel, [at.runId])
  );
  onPending(CommandIDs.refine, trans.__('Refine Pending Result'), at =>
    options.decorations.refine(at.panel, at.runId)
  );
  onPending(CommandIDs.earlierVersion, trans.__('Show Earlier Version of Pending Result'), at =>
    options.versions.show(at.panel, at.runId, -1)
  );
  onPending(CommandIDs.laterVersion, trans.__('Show Later Version of Pending Result'), at =>
    options.versions.show(at.panel, at.runId, 1)
  );
  onNotebook(CommandIDs.acceptAll, trans.__('Accept All Pending Cells'), panel => decisions.acceptAll(panel));
  onNotebook(CommandIDs.discardAll, trans.__('Discard All Pending Cells'), panel =>
    decisions.discardAll(panel)
  );
  onNotebook(CommandIDs.next, trans.__('Go to Next Pending Cell'), panel =>
    decisions.revealPending(panel, 1)
  );
  onNotebook(CommandIDs.previous, trans.__('Go to Previous Pending Cell'), panel =>
    decisions.revealPending(panel, -1)
  );
  add(
    CommandIDs.undo,
    trans.__('Undo the Agent’s Last Insertion'),
    () => tracker.currentWidget && decisions.undoInsertion(tracker.currentWidget),
    () => tracker.currentWidget !== null
  );
  // What a cell is for the agent, its marks know.
  const onMarked = (
    id: string,
    label: string,
    mark: string,
    act: (panel: NotebookPanel, cellId: string) => unknown
  ): void => {
    const cell = (): Cell | null => tracker.currentWidget?.content.activeCell ?? null;
    const execute = (): unknown => cell() && act(tracker.currentWidget!, cell()!.model.id);
    add(id, label, execute, () => cell()?.hasClass(mark) ?? false);
  };
  onMarked(CommandIDs.showRun, trans.__('Show the Agent’s Run of This Cell'), KEPT_CLASS, (panel, id) => {
    const cell = sharedNotebook(panel)!.cells.find(one => one.id === id);
    options.showRun(acceptedRunId(cell!));
  });
  onMarked(CommandIDs.fix, trans.__('Fix This Cell with the Agent'), FAILED_CLASS, (panel, id) =>
    actions.fix(panel, id)
  );
  onMarked(CommandIDs.explain, trans.__('Explain This Result with the Agent'), RESULT_CLASS, (panel, id) =>
    actions.explain(panel, id)
  );
  onMarked(CommandIDs.askFrom, trans.__('Ask the Agent from This Result'), RESULT_CLASS, (panel, id) =>
    actions.askFrom(panel, id)
  );
}

interface IPendingCell {
  panel: NotebookPanel;
  cellId: string;
  runId: string;
}

/** The active cell of the notebook, if it waits for a decision. */
function pendingCell(panel: NotebookPanel | null): IPendingCell | null {
  const cell = panel?.content.activeCell?.model.sharedModel as unknown as ISharedCell | undefined;
  const runId = cell && isPending(cell) ? provenance(cell)?.run_id : undefined;
  return panel && cell && runId ? { panel, cellId: cell.id, runId } : null;
}

function hasPending(panel: NotebookPanel | null): boolean {
  const notebook = sharedNotebook(panel);
  return notebook !== null && pendingRuns(notebook).length > 0;
}

function runningIds(connections: KernelConnections): string[] {
  return connections.current?.model.state.runs.filter(isRunning).map(run => run.id) ?? [];
}
