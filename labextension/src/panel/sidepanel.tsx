import { ReactWidget } from '@jupyterlab/ui-components';
import React, { lazy, Suspense } from 'react';

import { agentIcon } from '../common/icons';
import { tabCaption } from '../notifications/activity';
import type { IPanelServices } from './services';

/** Everything that the panel draws: a chunk of its own, loaded when it is first looked at. */
const Panel = lazy(() => import(/* webpackChunkName: "panel" */ './panel'));

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

  /** Bring the keyboard into the panel, to what the selector names, once it is drawn; not if the user goes on first. */
  takeFocus(selector = '[role=tab][aria-selected=true]'): void {
    this._focusWait?.abort();
    const wait = (this._focusWait = new AbortController());
    const focusIfDrawn = (): void => {
      const node = this.node.querySelector<HTMLElement>(selector);
      if (node && !wait.signal.aborted) {
        wait.abort();
        node.focus();
      }
    };
    const observer = new MutationObserver(focusIfDrawn);
    observer.observe(this.node, { childList: true, subtree: true });
    wait.signal.addEventListener('abort', () => observer.disconnect());
    for (const event of ['pointerdown', 'keydown']) {
      this.node.ownerDocument.addEventListener(event, () => wait.abort(), {
        capture: true,
        signal: wait.signal
      });
    }
    requestAnimationFrame(focusIfDrawn);
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

  private _focusWait: AbortController | null = null;
  private _shown = false;
}
