import type { NotebookPanel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import type { Signal } from '@lumino/signaling';

import type { CellActions } from '../cells/cellactions';
import type { CellDecisions } from '../cells/celldecisions';
import type { CellDecorations } from '../cells/celldecorations';
import type { ResultVersions } from '../cells/resultversions';
import { addCommands, CommandIDs } from '../commands';
import { insertCells } from '../notebook/insertion';
import { run, stateMessage } from '../testing/golden';
import { FakeKernel } from '../testing/kernel';
import type { Notebook } from '../testing/notebooks';
import { cellsOf, notebookOf, panelWith, trackerOf } from '../testing/notebooks';
import { KernelConnections } from './connections';

const trans = nullTranslator.load('x');
const disposers: (() => void)[] = [];
afterEach(() => disposers.splice(0).forEach(dispose => dispose()));

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

  it('go on in the other notebook of a kernel when the one that was opened first is closed', async () => {
    const first = new FakeKernel({ hasAgent: true });
    const second = new FakeKernel({ hasAgent: true, handleComms: false });
    const [a, b] = [panelWith(first), panelWith(second)];
    const connections = connectionsOf(a, b);
    const before = connections.of(b)!;
    expect(before.kernel).toBe(first);
    first.dispose();
    expect(before.isDisposed).toBe(true);
    expect(connections.of(a)).toBeNull();
    const after = connections.of(b)!;
    await vi.waitFor(() => expect(second.received.map(message => message.type)).toEqual(['hello']));
    second.say({ ...stateMessage(), runs: [run({ id: 'r9' })] });
    expect(after.model.state.link).toBe('ready');
    expect(after.model.state.runs.map(each => each.id)).toEqual(['r9']);
    expect(after.send({ type: 'pong' })).toBe(true);
  });

  it('are made where a console of the page handles the kernel’s comms, and find an agent loaded later', async () => {
    const kernel = new FakeKernel({ handleComms: false });
    const connection = connectionsOf(panelWith(kernel)).current!;
    await vi.waitFor(() => expect(connection.model.state.link).toBe('absent'));
    kernel.beacon();
    await vi.waitFor(() => expect(kernel.received.map(message => message.type)).toEqual(['hello']));
    kernel.say(stateMessage());
    expect(connection.model.state.link).toBe('ready');
    kernel.setStatus('restarting');
    kernel.say(stateMessage());
    expect(connection.model.state.link).toBe('absent');
  });

  it('use the connection that handles comms, also if it comes second', () => {
    const [own, handling] = [new FakeKernel({ handleComms: false }), new FakeKernel()];
    const [a, b] = [panelWith(own), panelWith(handling)];
    const connections = connectionsOf(a, b);
    expect(connections.of(a)!.kernel).toBe(handling);
    expect(connections.of(b)).toBe(connections.of(a));
  });

  it('end with their kernel', () => {
    const kernel = new FakeKernel();
    const connections = connectionsOf(panelWith(kernel));
    const first = connections.current!;
    kernel.dispose();
    expect(first.isDisposed).toBe(true);
    expect(connections.current).toBeNull();
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
    Object.assign(panel.content, {
      activeCell: { model: { sharedModel: notebook.cells[active] }, hasClass: () => false }
    });
    const tracker = trackerOf(panel);
    const connections = connectionsOf(panel);
    connections.current!.send = message => sent.push(message) > 0;
    connections.current!.model.apply({ ...stateMessage(), runs: [run({ status: 'running' })] });
    const decisions = new Proxy({} as CellDecisions, {
      get: (_, name) => (_panel: unknown, what: unknown) => done.push([name, what])
    });
    addCommands({
      commands,
      trans,
      tracker,
      connections,
      decisions,
      actions: {} as CellActions,
      decorations: {
        refine: (_: unknown, runId: string) => done.push(['refine', runId])
      } as unknown as CellDecorations,
      versions: {
        show: (_: unknown, runId: string, step: number) => done.push(['show', runId, step])
      } as unknown as ResultVersions,
      showRun: runId => done.push(['run', runId]),
      open: () => undefined,
      review: () => undefined
    });
    return { commands, done, sent };
  };
  const pending = (): Notebook => {
    const notebook = notebookOf('%%agent\none');
    insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('r') });
    return notebook;
  };

  it('act on the active cell if it is pending', async () => {
    const { commands, done } = made(pending(), 1);
    await commands.execute(CommandIDs.accept);
    await commands.execute(CommandIDs.apply);
    await commands.execute(CommandIDs.discard);
    await commands.execute(CommandIDs.refine);
    await commands.execute(CommandIDs.earlierVersion);
    await commands.execute(CommandIDs.laterVersion);
    expect(done).toEqual([
      ['accept', 'r'],
      ['apply', 'r-code'],
      ['discard', ['r']],
      ['refine', 'r'],
      ['show', 'r', -1],
      ['show', 'r', 1]
    ]);
  });

  it('are not enabled on a cell that is not pending, but for the whole notebook they are', () => {
    const { commands } = made(pending(), 0);
    const enabled = Object.values(CommandIDs).filter(id => commands.isEnabled(id));
    expect(enabled).toEqual([
      ...[CommandIDs.open, CommandIDs.review, CommandIDs.stop, CommandIDs.acceptAll, CommandIDs.discardAll],
      ...[CommandIDs.next, CommandIDs.previous, CommandIDs.undo]
    ]);
  });

  it('stop what runs in the kernel of the current notebook', async () => {
    const { commands, sent } = made(notebookOf('x'), 0);
    await commands.execute(CommandIDs.stop);
    expect(sent).toEqual([{ type: 'stop', run_id: run().id }]);
  });
});
