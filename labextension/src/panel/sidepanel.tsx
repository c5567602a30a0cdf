import { ReactWidget } from '@jupyterlab/ui-components';
import React, { lazy, Suspense } from 'react';

import { agentIcon } from '../common/icons';
import { tabCaption } from '../notifications/activity';
import type { IPanelServices } from './services';

/** Everything that the panel draws: a chunk of its own, loaded when it is first looked at. */
const Panel = lazy(() => import(/* webpackChunkName: "panel" */ './panel'));

/** So long the content may take to be loaded and drawn: about a second. */
const FRAMES = 60;

/** The side panel: its tab is there from the start, its content from when it is first opened. */
export class AgentPanel extends ReactWidget {
  constructor(private readonly _services: IPanelServices) {
    super();
    const { trans } = _services;
    this.id = 'jupyter-codeagent-panel';
    this.addClass('jp-CodeAgent');
    this.title.icon = agentIcon;
    this.title.caption = tabCaption(trans, 0);
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Code agent'));
  }

  /** Mark the tab of the panel: so many decisions wait. */
  setBadge(decisions: number, caption: string): void {
    this.title.className = decisions > 0 ? 'jp-CodeAgent-waitingTab' : '';
    this.title.dataset = decisions > 0 ? { 'codeagent-count': decisions > 9 ? '9+' : `${decisions}` } : {};
    this.title.caption = caption;
  }

  /** Bring the keyboard into the panel, to what the selector names, once it is drawn. */
  takeFocus(selector = '[role=tab][aria-selected=true]', frames = FRAMES): void {
    requestAnimationFrame(() => {
      const node = this.node.querySelector<HTMLElement>(selector);
      if (node) {
        node.focus();
      } else if (frames > 0) {
        this.takeFocus(selector, frames - 1);
      }
    });
  }

  protected onBeforeShow(): void {
    this._shown = true;
    this.update();
  }

  protected render(): JSX.Element | null {
    return this._shown ? (
      <Suspense fallback={null}>
        <Panel services={this._services} />
      </Suspense>
    ) : null;
  }

  private _shown = false;
}
