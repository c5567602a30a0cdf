import type { IStateDB } from '@jupyterlab/statedb';
import { Signal } from '@lumino/signaling';
import React from 'react';

import { AgentModel } from '../comm/agentmodel';
import type { FromPage } from '../protocol/messages';
import { FROM_PAGE, stateMessage } from '../testing/golden';
import { notebookOf, panelOf, trackerOf } from '../testing/notebooks';
import { change, enter, eventually, press, render, servicesOf, unmount } from '../testing/render';
import { keepDraftsOfRenamed } from './ask/drafts';
import { PanelView } from './panel';
import { PanelMemory } from './panelmemory';

afterEach(unmount);

function database(saved: Record<string, unknown> = {}): IStateDB {
  return {
    fetch: (name: string) => Promise.resolve(saved[name]),
    save: (name: string, value: unknown) => Promise.resolve(void (saved[name] = value))
  } as unknown as IStateDB;
}

function panelServices(
  changes: object = {},
  sent: FromPage[] = []
): [ReturnType<typeof servicesOf>, AgentModel] {
  const model = new AgentModel();
  const tracker = trackerOf(panelOf(notebookOf('')));
  const connection = { model, kernel: { id: 'k' }, send: (message: FromPage) => sent.push(message) > 0 };
  const connections = { current: connection, changed: new Signal({}) };
  const history = { list: () => Promise.resolve({ total: 0, runs: [] }) };
  return [servicesOf({ tracker, connections, history, ...changes }), model];
}

const selected = (host: HTMLElement): string | undefined =>
  host.querySelector('[role=tab][aria-selected=true]')?.firstChild?.textContent ?? undefined;

describe('the panel', () => {
  it('opens at the tab where an earlier page left it', async () => {
    const saved = {};
    const [services] = panelServices({ memory: new PanelMemory(database(saved)) });
    const host = await render(<PanelView />, services);
    await press(host, 'Context');
    expect(selected(host)).toBe('Context');
    await eventually(() => expect(Object.keys(saved)).toHaveLength(1));
    await unmount();
    const [again] = panelServices({ memory: new PanelMemory(database(saved)) });
    const reloaded = await render(<PanelView />, again);
    await eventually(() => expect(selected(reloaded)).toBe('Context'));
  });

  it('says why no run is possible, whichever tab is open', async () => {
    const [services, model] = panelServices();
    const host = await render(<PanelView />, services);
    const problem = 'The administrator’s policy /etc/jupyter/codeagent_policy.json cannot be read.';
    await change(() =>
      model.apply({ ...stateMessage(), proposals: [], settings: { values: [], server: null, problem } })
    );
    for (const tab of ['Now', 'Context', 'History', 'Model']) {
      await press(host, tab);
      expect(host.textContent).toContain(`Cannot run. ${problem}`);
    }
    await change(() => model.apply(stateMessage()));
    expect(host.textContent).not.toContain('Cannot run');
  });

  it('goes to a decision that begins to wait, but not while the user types', async () => {
    const [services, model] = panelServices();
    const host = await render(<PanelView />, services);
    await press(host, 'History');
    host.querySelector('input')!.focus();
    await enter(host.querySelector('input')!, 'delays');
    await change(() => model.apply(stateMessage()));
    expect(selected(host)).toBe('History');
    expect(host.querySelector('[role=tab] .jp-CodeAgent-count')!.textContent).toBe('1');
    await change(() => model.apply({ ...stateMessage(), proposals: [] }));
    await change(() => (document.activeElement as HTMLElement).blur());
    await change(() => model.apply(stateMessage()));
    expect(selected(host)).toBe('Now');
  });
});

describe('a draft in the ask box', () => {
  const field = (host: HTMLElement): HTMLTextAreaElement => host.querySelector('.jp-CodeAgent-ask textarea')!;

  it('follows its notebook through a rename, with the caret where it was', async () => {
    const [services, notebook] = await withNotebook();
    const host = await render(<PanelView />, services);
    await enter(field(host), 'half a question');
    field(host).focus();
    field(host).setSelectionRange(4, 4);
    const before = field(host);
    await change(() => notebook.rename('delays.ipynb'));
    expect(field(host)).toBe(before);
    expect([before.value, before.selectionStart, document.activeElement]).toEqual([
      'half a question',
      4,
      before
    ]);
    await enter(before, 'half a question more');
    const { memory } = services;
    expect([memory.get('draft eda.ipynb'), memory.get('draft delays.ipynb')]).toEqual([
      '',
      'half a question more'
    ]);
  });

  it('of another notebook that had the new name before does not replace it', async () => {
    const [services, notebook] = await withNotebook();
    services.memory.set('draft delays.ipynb', 'of a file that is gone');
    const host = await render(<PanelView />, services);
    await change(() => notebook.rename('delays.ipynb'));
    expect(field(host).value).toBe('');
  });

  it('is typed without drawing the rest of the panel again', async () => {
    let drawn = 0;
    const notifications = {
      get activity() {
        drawn++; // read by what is drawn above the ask box
        return [];
      },
      changed: new Signal({})
    };
    const [services] = await withNotebook({ notifications });
    const host = await render(<PanelView />, services);
    expect(drawn).toBeGreaterThan(0);
    drawn = 0;
    await enter(field(host), 'Which');
    expect([field(host).value, drawn]).toEqual(['Which', 0]);
  });

  async function withNotebook(
    changes: object = {}
  ): Promise<[ReturnType<typeof servicesOf>, { rename: (path: string) => void }]> {
    const panel = panelOf(notebookOf(''));
    const pathChanged = new Signal<object, string>({});
    Object.assign(panel.context, { pathChanged });
    const tracker = trackerOf(panel);
    const [services] = panelServices({ tracker, ...changes });
    await services.memory.restored;
    keepDraftsOfRenamed(tracker, services.memory);
    const rename = (path: string): void => {
      Object.assign(panel.context, { path });
      pathChanged.emit(path);
    };
    return [services, { rename }];
  }
});

describe('the context', () => {
  it('says that it has nothing to show before the agent is there', async () => {
    const [services] = panelServices();
    const host = await render(<PanelView />, services);
    await press(host, 'Context');
    expect(host.textContent).toContain('Load the agent in this notebook');
  });

  it('sends the golden share, and shows it at once', async () => {
    const sent: FromPage[] = [];
    const [services, model] = panelServices({}, sent);
    model.apply({ ...stateMessage(), proposals: [] });
    const host = await render(<PanelView />, services);
    await press(host, 'Context');
    await enter(host.querySelector<HTMLSelectElement>('select[aria-label="Sharing of flights"]')!, 'shared');
    expect(sent).toEqual([{ ...FROM_PAGE.share, id: expect.any(String) }]);
    expect(model.state.context.variables[0].shared).toBe('shared');
  });
});

describe('what the panel remembers', () => {
  it('is not overwritten by an older text that the database brings later', async () => {
    const memory = new PanelMemory(database({ 'jupyter-codeagent:panel': { a: 'old', b: 'kept', c: 7 } }));
    memory.set('a', 'new');
    await memory.restored;
    expect([memory.get('a'), memory.get('b'), memory.get('c')]).toEqual(['new', 'kept', '']);
  });

  it('is sent to no other page and lost with this one where there is no database', () => {
    const memory = new PanelMemory(null);
    memory.set('a', 'x');
    expect(memory.get('a')).toBe('x');
  });

  it('lets the oldest texts go', () => {
    const memory = new PanelMemory(null);
    Array.from({ length: 60 }, (_, i) => memory.set(`draft ${i}`, 'x'));
    expect([memory.get('draft 0'), memory.get('draft 59')]).toEqual(['', 'x']);
  });
});
