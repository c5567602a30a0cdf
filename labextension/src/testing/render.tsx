/** Draw components as the panel does, with as much of its services as they ask for. */
import type { CodeEditor, IEditorServices } from '@jupyterlab/codeeditor';
import { RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import React, { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';

import { Preferences } from '../comm/preferences';
import { RunList } from '../history/runlist';
import { PanelMemory } from '../panel/panelmemory';
import type { IPanelServices } from '../panel/services';
import { ServicesProvider } from '../panel/services';
import type { IRun } from '../protocol/run';
import { trackerOf } from './notebooks';

const scope = globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean };
scope.IS_REACT_ACT_ENVIRONMENT = true;

const editors = {
  factoryService: {
    newInlineEditor: ({ host, model }: { host: HTMLElement; model: CodeEditor.IModel }) => {
      const draw = (): void => void (host.textContent = model.sharedModel.getSource());
      model.sharedModel.changed.connect(draw);
      draw();
      return { dispose: () => undefined };
    }
  }
} as unknown as IEditorServices;

export function servicesOf(changes: Partial<IPanelServices> | object = {}): IPanelServices {
  const nothing = {};
  const services = {
    trans: nullTranslator.load('x'),
    tracker: trackerOf(),
    editors,
    rendermime: new RenderMimeRegistry({ initialFactories: standardRendererFactories }),
    connections: { current: null, changed: new Signal(nothing) },
    decorations: { changed: new Signal(nothing) },
    cellStates: {
      changed: new Signal(nothing),
      version: 0,
      stateOf: (run: IRun) => (run.status === 'ok' ? run.cell_state : null),
      canReinsert: () => false,
      missing: () => [],
      isRecorded: () => false
    },
    decisions: {},
    actions: {},
    history: {},
    memory: new PanelMemory(),
    notifications: { activity: [], changed: new Signal(nothing), reveal: () => undefined },
    preferences: new Preferences(),
    keys: () => '',
    ...changes
  } as unknown as IPanelServices;
  services.runs ??= new RunList(services.history);
  return services;
}

let root: Root | null = null;

export async function render(element: JSX.Element, services = servicesOf()): Promise<HTMLElement> {
  const host = document.createElement('div');
  document.body.append(host);
  root = createRoot(host);
  await act(async () => root!.render(<ServicesProvider services={services}>{element}</ServicesProvider>));
  return host;
}

export async function unmount(): Promise<void> {
  await act(async () => root?.unmount());
  root = null;
  document.body.replaceChildren();
}

export async function change(what: () => unknown): Promise<void> {
  await act(async () => {
    what();
  });
}

/** Press the button with this text or label. */
export async function press(host: HTMLElement, name: string): Promise<void> {
  const button = [...host.querySelectorAll('button')].find(
    candidate => candidate.getAttribute('aria-label') === name || candidate.textContent === name
  );
  if (!button) {
    throw new Error(`no button ${name} in: ${host.textContent}`);
  }
  await change(() => button.click());
}

/** Choose what the menu of further actions has under this label, with the keyboard. */
export async function choose(host: HTMLElement, label: string): Promise<void> {
  await press(host, 'More actions');
  const menu = document.querySelector('.lm-Menu')!;
  const key = (keyCode: number): boolean =>
    menu.dispatchEvent(new KeyboardEvent('keydown', { keyCode, bubbles: true }));
  const labels = [...menu.querySelectorAll('.lm-Menu-itemLabel')].map(item => item.textContent);
  const at = labels.filter(Boolean).indexOf(label);
  if (at < 0) {
    throw new Error(`nothing called ${label} in: ${labels.join(', ')}`);
  }
  await change(() => {
    Array.from({ length: at + 1 }, () => key(DOWN));
    key(ENTER);
  });
}

const [DOWN, ENTER] = [40, 13];

/** Type into a field, as React notices it. */
export async function enter(
  field: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement,
  value: string
): Promise<void> {
  const prototype = Object.getPrototypeOf(field) as object;
  await change(() => {
    Object.getOwnPropertyDescriptor(prototype, 'value')!.set!.call(field, value);
    field.dispatchEvent(
      new Event(field instanceof HTMLSelectElement ? 'change' : 'input', { bubbles: true })
    );
  });
}

/** Wait for what timers and answers bring: React then draws by itself. */
export async function eventually(check: () => void): Promise<void> {
  scope.IS_REACT_ACT_ENVIRONMENT = false;
  try {
    await vi.waitFor(check);
  } finally {
    scope.IS_REACT_ACT_ENVIRONMENT = true;
  }
}
