import { Notification } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import { KernelConnections } from '../comm/connections';
import { insertCells } from '../notebook/insertion';
import { run, stateMessage } from '../testing/golden';
import { FakeKernel } from '../testing/kernel';
import { cellsOf, notebookOf, panelWith, trackerOf } from '../testing/notebooks';
import { Notifications } from './notifications';
import { StatusItem } from './statusitem';

const trans = nullTranslator.load('x');
const disposers: (() => void)[] = [];
afterEach(() => {
  disposers.splice(0).forEach(dispose => dispose());
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

const asking = { ...stateMessage(), runs: [] };
const idle = { ...asking, proposals: [] };

/** The first notebook is the current one. */
function setUp(visible: boolean, ...names: string[]) {
  const notebooks = (names.length ? names : ['a.ipynb']).map((name, i) => {
    const panel = panelWith(Object.assign(new FakeKernel(), { id: `kernel of ${name}` }), notebookOf(`${i}`));
    Object.assign(panel.context, { path: `work/${name}` });
    return panel;
  });
  const decorations = { changed: new Signal<object, NotebookPanel>({}) };
  const tracker = trackerOf(...notebooks);
  const connections = new KernelConnections(tracker);
  connections.added.connect((_, connection) => disposers.push(() => connection.dispose()));
  const seen = { opened: 0, badge: [0, ''] as [number, string], activated: [] as NotebookPanel[] };
  const notifications = new Notifications({
    connections,
    tracker,
    decorations: decorations as never,
    trans,
    open: () => seen.opened++,
    show: () => seen.opened++,
    isPanelVisible: () => visible || seen.opened > 0,
    activate: panel => seen.activated.push(panel),
    setBadge: (...badge) => (seen.badge = badge)
  });
  connections.start();
  const models = notebooks.map(panel => connections.of(panel)!.model);
  return { notifications, models, notebooks, decorations, seen, said: () => document.body.textContent };
}

function notices() {
  const warning = vi.spyOn(Notification, 'warning').mockReturnValue('notice');
  const dismiss = vi.spyOn(Notification, 'dismiss').mockReturnValue(undefined);
  return { warning, dismiss };
}

it('opens the panel for a decision, and counts it on its tab until it is decided', () => {
  const { models, seen } = setUp(false);
  models[0].apply(asking);
  expect([seen.opened, ...seen.badge]).toEqual([1, 1, 'Code agent: 1 decision waiting']);
  models[0].apply({ type: 'resolved', proposal_id: asking.proposals[0].id, action: 'approve' });
  expect(seen.badge).toEqual([0, 'Code agent']);
});

it('leaves a visible panel alone that shows the decision', () => {
  const { warning } = notices();
  const { models, seen } = setUp(true);
  models[0].apply(asking);
  expect([seen.opened, warning.mock.calls.length]).toEqual([0, 0]);
});

it('only notifies where the user does not want the panel, and takes the notice back', () => {
  const { warning, dismiss } = notices();
  const { notifications, models, seen } = setUp(false);
  notifications.settings = { openOnDecision: false, openOnFirstRun: false };
  models[0].apply(asking);
  expect([seen.opened, warning.mock.calls.length]).toEqual([0, 1]);
  models[0].apply(idle);
  expect(dismiss).toHaveBeenCalledWith('notice');
});

it('says which notebook a decision is in when the panel shows another one, and leads there', () => {
  const { warning } = notices();
  const { notifications, models, notebooks, seen } = setUp(true, 'here.ipynb', 'there.ipynb');
  models[1].apply(asking);
  expect(warning.mock.calls[0][0]).toContain('there.ipynb');
  warning.mock.calls[0][1]!.actions![0].callback({} as MouseEvent);
  expect([seen.activated, seen.opened]).toEqual([[notebooks[1]], 1]);
  models[0].apply(asking);
  expect(seen.badge[0]).toBe(2);
  expect(notifications.activity.map(one => [one.notebook, one.decisions])).toEqual([
    ['here.ipynb', 1],
    ['there.ipynb', 1]
  ]);
});

it('opens for the first run only', () => {
  const { models, seen } = setUp(false);
  models[0].apply({ type: 'run', run: run({ id: 'a', status: 'running' }) });
  models[0].apply({ type: 'run', run: run({ id: 'b', status: 'running' }) });
  expect(seen.opened).toBe(1);
});

it('tells the turns of a run in one live region, once each, and nothing of its progress', () => {
  notices();
  const { models, said } = setUp(true);
  const regions = document.querySelectorAll('[aria-live=polite]');
  expect(regions).toHaveLength(1);
  models[0].apply({ type: 'run', run: run({ id: 'a', status: 'running' }) });
  expect(said()).toBe('The code agent has started in a.ipynb.');
  models[0].apply({ ...asking, runs: [run({ id: 'a', status: 'waiting' })] });
  expect(said()).toBe('The code agent is waiting for your decision in a.ipynb.');
  regions[0].textContent = 'nothing new';
  models[0].apply({ ...asking, runs: [run({ id: 'a', status: 'waiting' })] }); // the heartbeat
  expect(said()).toBe('nothing new');
  models[0].apply({ type: 'run', run: run({ id: 'a', status: 'failed', error: 'why\nmore' }) });
  expect(said()).toBe('The code agent failed in a.ipynb: why');
});

describe('the status bar', () => {
  it('tells what waits before what runs, then what is to be reviewed, and leads there', () => {
    notices();
    const { notifications, models, notebooks, decorations, seen } = setUp(true, 'here.ipynb', 'there.ipynb');
    const item = new StatusItem(notifications, trans);
    disposers.push(() => item.dispose());
    const button = item.node.querySelector('button')!;
    expect(item.isHidden).toBe(true);
    insertCells(notebooks[0].content.model!.sharedModel as never, {
      anchor: null,
      replace: [],
      cells: cellsOf('r')
    });
    decorations.changed.emit(notebooks[0]);
    expect([item.isHidden, button.textContent]).toEqual([false, '1 result to review']);
    models[1].apply({ type: 'run', run: run({ id: 'a', status: 'running' }) });
    expect(button.textContent).toContain('Agent: running');
    models[1].apply({ ...asking, runs: [run({ id: 'a', status: 'waiting' })] });
    expect(button.textContent).toBe('1 decision waiting');
    expect(button.title).toContain('there.ipynb');
    button.click();
    expect(seen.activated).toEqual([notebooks[1]]);
    models[1].apply({ ...idle, runs: [run({ id: 'a' })] });
    expect(button.textContent).toBe('1 result to review');
  });
});
