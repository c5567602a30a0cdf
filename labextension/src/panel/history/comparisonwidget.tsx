import type { JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import React, { lazy, Suspense } from 'react';

import { agentIcon } from '../../common/icons';
import type { IFrontEnd } from '../../history/actions';
import type { IPanelServices } from '../services';
import { ServicesProvider } from '../services';

// With it comes what shows a run: read when two are compared for the first time, not at the start of the page.
const Comparison = lazy(async () => ({ default: (await import('./comparison')).Comparison }));

/** A document of its own, because side by side needs more width than the panel has. */
function comparisonWidget(
  services: IPanelServices,
  id: string,
  left: string,
  right: string
): MainAreaWidget<ReactWidget> {
  const content = ReactWidget.create(
    <ServicesProvider services={services}>
      <Suspense fallback={null}>
        <Comparison left={left} right={right} />
      </Suspense>
    </ServicesProvider>
  );
  content.addClass('jp-CodeAgent');
  const widget = new MainAreaWidget({ content });
  widget.id = id;
  widget.title.label = services.trans.__('Compare runs');
  widget.title.icon = agentIcon;
  widget.title.closable = true;
  return widget;
}

/** What the history does outside of the panel. */
export function frontEndOf(app: JupyterFrontEnd, services: () => IPanelServices): IFrontEnd {
  return {
    openDocument: path => app.commands.execute('docmanager:open', { path }),
    showComparison: (left, right) => {
      const id = `jupyter-codeagent-compare-${left}-${right}`;
      if ([...app.shell.widgets('main')].some(widget => widget.id === id)) {
        app.shell.activateById(id);
        return true;
      }
      const widget = comparisonWidget(services(), id, left, right);
      app.shell.add(widget, 'main', { type: 'Code agent' });
      if (!widget.isAttached) {
        widget.dispose(); // Notebook 7 shows one document only
        return false;
      }
      app.shell.activateById(widget.id);
      return true;
    }
  };
}
