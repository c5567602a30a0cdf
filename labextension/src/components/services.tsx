/** What the components need of the world around them, and the hooks to listen to it. */
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import React, { createContext, useContext, useEffect, useReducer } from 'react';

import type { KernelConnections } from '../connections';
import type { CellDecisions } from '../decisions';
import type { HistoryClient } from '../history';
import type { Marks } from '../marks';

export interface IPanelServices {
  trans: TranslationBundle;
  tracker: INotebookTracker;
  editors: IEditorServices;
  rendermime: IRenderMimeRegistry;
  connections: KernelConnections;
  marks: Pick<Marks, 'changed'>;
  decisions: CellDecisions;
  history: HistoryClient;
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
