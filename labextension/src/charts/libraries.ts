/** The texts of the chart libraries. They run in the closed frame only, never in the page. */
import type { HistoryClient } from '../history/client';

export type ChartKind = 'plotly' | 'vega' | 'vega-lite';

/** The scripts of a chart, in order. Rejects with one line for the user. */
export type LoadLibraries = (kind: ChartKind) => Promise<readonly string[]>;

/** Vega comes with the extension, in a chunk that is loaded when it is first needed; Plotly from the server. */
export function libraries(server: Pick<HistoryClient, 'library'>): LoadLibraries {
  return async kind => (kind === 'plotly' ? [await server.library('plotly')] : vega());
}

async function vega(): Promise<readonly string[]> {
  return (await import(/* webpackChunkName: "vega-text" */ './vega')).default;
}
