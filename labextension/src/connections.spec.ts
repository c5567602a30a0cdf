import { Notification } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';

import { Attention } from './attention';
import { addCommands, Commands } from './commands';
import { KernelConnections } from './connections';
import type { CellDecisions } from './decisions';
import { insertCells } from './notebook';
import type { AgentPanel } from './panel';
import { run, stateMessage } from './testing/golden';
import { FakeKernel } from './testing/kernel';
import type { Notebook } from './testing/notebooks';
import { cellsOf, notebookOf, panelOf, trackerOf } from './testing/notebooks';

const trans = nullTranslator.load('x');
const disposers: (() => void)[] = [];
afterEach(() => disposers.splice(0).forEach(dispose => dispose()));

/** A notebook panel with this kernel, and the signals that are listened to. */
function panelWith(kernel: FakeKernel | null, notebook: Notebook = notebookOf('x')): NotebookPanel {
  const panel = panelOf(notebook);
  const signals = { kernelChanged: new Signal({}), ready: Promise.resolve() };
  Object.assign(panel.sessionContext, { session: { kernel }, ...signals });
  return Object.assign(panel, { disposed: new Signal({}) });
}

function connectionsOf(...panels: NotebookPanel[]): KernelConnections {
  const connections = new KernelConnections(trackerOf(...panels));
  connections.added.connect((_, connection) => disposers.push(() => connection.dispose()));
  connections.start();
  return connections;
}

describe('connections', () => {
  it('are one per kernel, also when two notebooks share it', () => {
    const kernel = new FakeKernel();
    const [a, b] = [panelWith(kernel), panelWith(kernel)];
    const connections = connectionsOf(a, b);
    expect(connections.of(a)).not.toBeNull();
    expect(connections.of(a)).toBe(connections.of(b));
    expect(connections.current).toBe(connections.of(a));
  });

  it('are none without a kernel, and begin when it is there', () => {
    const panel = panelWith(null);
    const connections = connectionsOf(panel);
    expect(connections.current).toBeNull();
    Object.assign(panel.sessionContext, { session: { kernel: new FakeKernel() } });
    (panel.sessionContext.kernelChanged as unknown as Signal<object, void>).emit();
    expect(connections.current).not.toBeNull();
  });

  it('are not made where someone else in the page handles the kernel’s comms', () => {
    const panel = panelWith(Object.assign(new FakeKernel(), { handleComms: false }));
    expect(connectionsOf(panel).current).toBeNull();
  });

  it('end with their kernel', () => {
    const kernel = new FakeKernel();
    const connections = connectionsOf(panelWith(kernel));
    const first = connections.current!;
    kernel.isDisposed = true;
    Object.assign(kernel, { handleComms: false });
    kernel.disposed.emit();
    expect(first.isDisposed).toBe(true);
    expect(connections.current).toBeNull();
  });
});

describe('attention', () => {
  let opened: number;
  const watched = (
    visible: boolean
  ): { attention: Attention; connections: KernelConnections; panel: AgentPanel } => {
    opened = 0;
    const panel = { isVisible: visible, waiting: false, disposed: new Signal({}) } as unknown as AgentPanel;
    const connections = new KernelConnections(trackerOf(panelWith(new FakeKernel())));
    connections.added.connect((_, connection) => disposers.push(() => connection.dispose()));
    const attention = new Attention(connections, panel, trans, () => opened++);
    connections.start();
    return { attention, connections, panel };
  };

  it('opens the panel for a decision, and marks its tab until it is decided', () => {
    const { connections, panel } = watched(false);
    const { model } = connections.current!;
    model.apply({ ...stateMessage(), runs: [] });
    expect([opened, panel.waiting]).toEqual([1, true]);
    model.apply({ type: 'resolved', proposal_id: stateMessage().proposals[0].id, action: 'approve' });
    expect(panel.waiting).toBe(false);
  });

  it('leaves a visible panel alone', () => {
    const { connections } = watched(true);
    connections.current!.model.apply({ ...stateMessage(), runs: [] });
    expect(opened).toBe(0);
  });

  it('only notifies where the user does not want the panel, and takes the notice back', () => {
    const { attention, connections } = watched(false);
    const warning = vi.spyOn(Notification, 'warning').mockReturnValue('notice');
    const dismiss = vi.spyOn(Notification, 'dismiss').mockReturnValue(undefined);
    attention.settings = { openOnDecision: false, openOnFirstRun: false };
    const { model } = connections.current!;
    model.apply({ ...stateMessage(), runs: [] });
    expect([opened, warning.mock.calls.length]).toEqual([0, 1]);
    model.apply({ ...stateMessage(), runs: [], proposals: [] });
    expect(dismiss).toHaveBeenCalledWith('notice');
  });

  it('opens for the first run only', () => {
    const { connections } = watched(false);
    const { model } = connections.current!;
    model.apply({ type: 'run', run: run({ id: 'a', status: 'running' }) });
    model.apply({ type: 'run', run: run({ id: 'b', status: 'running' }) });
    expect(opened).toBe(1);
  });
});

describe('commands', () => {
  const made = (
    notebook: Notebook,
    active: number
  ): { commands: CommandRegistry; done: unknown[]; sent: unknown[] } => {
    const [commands, done, sent] = [new CommandRegistry(), [] as unknown[], [] as unknown[]];
    const kernel = new FakeKernel();
    const panel = panelWith(kernel, notebook);
    Object.assign(panel.content, { activeCell: { model: { sharedModel: notebook.cells[active] } } });
    const tracker = trackerOf(panel);
    const connections = connectionsOf(panel);
    connections.current!.send = message => sent.push(message) > 0;
    connections.current!.model.apply({ ...stateMessage(), runs: [run({ status: 'running' })] });
    const decisions = new Proxy({} as CellDecisions, {
      get: (_, name) => (_panel: unknown, what: unknown) => done.push([name, what])
    });
    addCommands({ commands, trans, tracker, connections, decisions, open: () => undefined });
    return { commands, done, sent };
  };
  const pending = (): Notebook => {
    const notebook = notebookOf('%%agent\none');
    insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('r') });
    return notebook;
  };

  it('act on the active cell if it is pending', async () => {
    const { commands, done } = made(pending(), 1);
    await commands.execute(Commands.accept);
    await commands.execute(Commands.apply);
    await commands.execute(Commands.discard);
    expect(done).toEqual([
      ['accept', 'r'],
      ['apply', 'r-code'],
      ['discard', ['r']]
    ]);
  });

  it('are not enabled on a cell that is not pending, but for the whole notebook they are', () => {
    const { commands } = made(pending(), 0);
    const enabled = Object.values(Commands).filter(id => commands.isEnabled(id));
    expect(enabled).toEqual([
      ...[Commands.open, Commands.stop, Commands.acceptAll, Commands.discardAll],
      ...[Commands.next, Commands.previous, Commands.undo]
    ]);
  });

  it('stop what runs in the kernel of the current notebook', async () => {
    const { commands, sent } = made(notebookOf('x'), 0);
    await commands.execute(Commands.stop);
    expect(sent).toEqual([{ type: 'stop', run_id: run().id }]);
  });
});
