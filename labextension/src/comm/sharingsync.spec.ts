import type { NotebookPanel } from '@jupyterlab/notebook';

import type { ISharing } from '../protocol/messages';
import type { Notebook } from '../testing/notebooks';
import { notebookOf, panelOf } from '../testing/notebooks';
import { SharingSync } from './sharingsync';

const HIDDEN: ISharing = { shared: { model: 'hidden' }, hidden_columns: { flights: ['tailnum'] } };
const NOTHING: ISharing = { shared: {}, hidden_columns: {} };

let notebook: Notebook;
let panel: NotebookPanel;
let lists: SharingSync;

const kept = (): unknown => notebook.getMetadata('codeagent');
const readOnly = (yes: boolean): void => {
  Object.assign(panel, { content: { ...panel.content, model: { sharedModel: notebook, readOnly: yes } } });
};

beforeEach(() => {
  notebook = notebookOf('x');
  panel = panelOf(notebook);
  lists = new SharingSync(() => [panel]);
});

describe('what the user hides', () => {
  beforeEach(() => void lists.collectAll());

  it('is kept in the notebook’s metadata, and not written again where nothing changed', () => {
    let changes = 0;
    notebook.changed.connect(() => changes++);
    lists.save(HIDDEN);
    expect(kept()).toEqual({ version: 1, ...HIDDEN });
    const written = changes;
    lists.save(HIDDEN);
    expect(changes).toBe(written);
    expect(notebook.canUndo()).toBe(false);
    expect(lists.collectAll()).toEqual(HIDDEN);
  });

  it('is not written into a read-only notebook', () => {
    readOnly(true);
    lists.save(HIDDEN);
    expect(kept()).toBeUndefined();
  });

  it('stays hidden in a kernel that starts anew although somebody has taken it off the notebook’s list', () => {
    lists.save(HIDDEN);
    notebook.deleteMetadata('codeagent');
    expect(lists.collectAll()).toEqual(HIDDEN);
  });

  it('and shows again is shown in a kernel that starts anew', () => {
    lists.save(HIDDEN);
    lists.save(NOTHING);
    expect(lists.collectAll()).toEqual(NOTHING);
  });

  it('leaves no entry in a notebook that hides nothing', () => {
    lists.save(HIDDEN);
    lists.save(NOTHING);
    expect(kept()).toBeUndefined();
  });
});

it('what a notebook hid when it came stays hidden, whoever takes it off the list before the kernel knows', () => {
  notebook.setMetadata('codeagent', HIDDEN);
  lists.track(panel);
  notebook.deleteMetadata('codeagent');
  lists.track(panel);
  expect(lists.collectAll()).toEqual(HIDDEN);
});

describe('a notebook whose lists the kernel does not have', () => {
  const sent: ISharing[] = [];
  const sender =
    (arrives: boolean) =>
    (sharing: ISharing): boolean => {
      sent.push(sharing);
      return arrives;
    };

  beforeEach(() => {
    sent.length = 0;
    notebook.setMetadata('codeagent', { version: 1, ...HIDDEN });
  });

  it('is not overwritten by what the kernel has', () => {
    lists.save(NOTHING);
    expect(kept()).toEqual({ version: 1, ...HIDDEN });
  });

  it('is reported once it has loaded, until it was sent, and then not again', () => {
    const { context } = panel;
    Object.assign(panel, { context: { ...context, isReady: false } });
    lists.sendLists(panel, sender(true));
    expect(sent).toEqual([]);
    Object.assign(panel, { context });
    lists.sendLists(panel, sender(false));
    lists.sendLists(panel, sender(true));
    lists.sendLists(panel, sender(true));
    expect(sent).toEqual([HIDDEN, HIDDEN]);
    lists.save(NOTHING);
    expect(kept()).toBeUndefined();
  });

  it('counts as sent without a message where it hides nothing', () => {
    notebook.deleteMetadata('codeagent');
    lists.sendLists(panel, sender(true));
    expect(sent).toEqual([]);
    lists.save(HIDDEN);
    expect(kept()).toEqual({ version: 1, ...HIDDEN });
  });
});

describe('what a notebook of another wants always copied', () => {
  const ASKED = { shared: { keys: 'shared', model: 'hidden' } };

  beforeEach(() => notebook.setMetadata('codeagent', ASKED));

  it('is not asked of the kernel, and stays written until somebody agrees', () => {
    expect(lists.collectAll().shared).toEqual({ model: 'hidden' });
    lists.save(HIDDEN);
    expect(kept()).toMatchObject(ASKED);
  });

  it('is asked for from when the kernel has said that it is shared', () => {
    lists.collectAll();
    lists.save({ ...HIDDEN, shared: { keys: 'shared', model: 'hidden' } });
    expect(lists.collectAll().shared).toEqual({ keys: 'shared', model: 'hidden' });
  });
});
