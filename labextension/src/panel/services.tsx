/** What the components need of the world around them, and the hooks to listen to it. */
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import React, {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useReducer,
  useSyncExternalStore
} from 'react';

import type { CellActions } from '../cells/cellactions';
import type { CellDecisions } from '../cells/celldecisions';
import type { CellDecorations } from '../cells/celldecorations';
import type { Keys } from '../cells/pendingbar';
import type { KernelConnection } from '../comm/connection';
import type { KernelConnections } from '../comm/connections';
import type { Preferences } from '../comm/preferences';
import type { HistoryActions } from '../history/actions';
import type { HistoryClient } from '../history/client';
import type { RunCellStates } from '../history/runcells';
import type { RunList } from '../history/runlist';
import type { Notifications } from '../notifications/notifications';
import type { PanelMemory } from './panelmemory';

export interface IPanelServices {
  trans: TranslationBundle;
  tracker: INotebookTracker;
  editors: IEditorServices;
  rendermime: IRenderMimeRegistry;
  connections: KernelConnections;
  decorations: Pick<CellDecorations, 'changed'>;
  decisions: CellDecisions;
  actions: Pick<CellActions, 'askNext'>;
  history: HistoryClient;
  historyActions: HistoryActions;
  /** The history as the panel shows it; it outlives a change of tabs. */
  runs: RunList;
  /** What becomes of the cells of runs. */
  cellStates: Pick<
    RunCellStates,
    'changed' | 'version' | 'stateOf' | 'canReinsert' | 'missing' | 'isRecorded'
  >;
  memory: PanelMemory;
  notifications: Pick<Notifications, 'activity' | 'changed' | 'reveal'>;
  preferences: Preferences;
  /** What is bound to a command of the review. */
  keys: Keys;
}

const Context = createContext<IPanelServices | null>(null);

export function ServicesProvider(props: {
  services: IPanelServices;
  children: React.ReactNode;
}): JSX.Element {
  return <Context.Provider value={props.services}>{props.children}</Context.Provider>;
}

export function useServices(): IPanelServices {
  const services = useContext(Context);
  if (!services) {
    throw new Error('This component belongs into a ServicesProvider.');
  }
  return services;
}

/** Render again whenever the signal is emitted. */
export function useSignal<Sender, Args>(signal: ISignal<Sender, Args> | undefined): void {
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const slot = (): void => again();
    signal?.connect(slot);
    return () => void signal?.disconnect(slot);
  }, [signal]);
}

/** The link to the agent of the current notebook, while it is open. Render again whenever it or its state changes. */
export function useReadyConnection(): KernelConnection | null {
  const { connections } = useServices();
  useSignal(connections.changed);
  const connection = connections.current;
  useSignal(connection?.model.changed);
  return connection?.model.state.link === 'ready' ? connection : null;
}

/** A text that the panel remembers. Renders again when this one has changed: others change at each key typed. */
export function useRemembered(name: string): string {
  const { memory } = useServices();
  const subscribe = useCallback(
    (again: () => void) => {
      memory.changed.connect(again);
      return () => void memory.changed.disconnect(again);
    },
    [memory]
  );
  return useSyncExternalStore(subscribe, () => memory.get(name));
}
