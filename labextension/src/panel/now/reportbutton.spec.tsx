import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import type { Signal } from '@lumino/signaling';
import React from 'react';

import { AgentModel } from '../../comm/agentmodel';
import type { KernelConnection } from '../../comm/connection';
import { insertCells } from '../../notebook/insertion';
import { stateMessage } from '../../testing/golden';
import { cellsOf, notebookOf, panelOf, trackerOf } from '../../testing/notebooks';
import { change, press, render, servicesOf, unmount } from '../../testing/render';
import { ReportButton } from './reportbutton';

afterEach(unmount);

it('a report is offered once a result is kept, and can be stopped while it is made', async () => {
  const model = new AgentModel();
  model.apply(stateMessage());
  const sent: unknown[] = [];
  const connection = {
    model,
    send: (message: object) => sent.push(message) > 0
  } as unknown as KernelConnection;
  const notebook = notebookOf('%agent report');
  const panel = panelOf(notebook);
  const cell = { type: 'code', sharedModel: notebook.cells[0], executionState: 'idle' };
  const outputArea = { future: { msg: { header: { msg_id: 'request' } } } };
  Object.assign(panel.content, { widgets: [{ model: cell, outputArea }] });
  const draw = (): Promise<HTMLElement> =>
    render(
      <ReportButton connection={connection} state={model.state} />,
      servicesOf({ tracker: trackerOf(panel) })
    );

  expect((await draw()).textContent).toBe('');
  await unmount();
  insertCells(notebook, { anchor: 'cell-0', replace: [], cells: cellsOf('r', 'x', 'accepted') });
  const host = await draw();
  expect(host.textContent).toBe('Report');

  cell.executionState = 'running';
  await change(() => emit('executionScheduled', panel));
  await press(host, 'Stop the report');
  expect(sent).toEqual([{ type: 'stop', run_id: 'request' }]);
  expect(host.textContent).toBe('Stopping …');

  cell.executionState = 'idle';
  await change(() => emit('executed', panel));
  expect(host.textContent).toBe('Report');
});

/** As JupyterLab does when a cell begins or ends. */
function emit(signal: 'executionScheduled' | 'executed', panel: NotebookPanel): void {
  (NotebookActions[signal] as unknown as Signal<object, object>).emit({ notebook: panel.content });
}
