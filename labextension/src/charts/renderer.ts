/** Interactive output of the sandbox: text and a button; after a click, the content in a closed frame. */
import { MimeModel } from '@jupyterlab/rendermime';
import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { Panel, Widget } from '@lumino/widgets';

import type { IPage } from './frames';
import { chartPage, htmlPage } from './frames';
import type { ChartKind, LoadLibraries } from './libraries';

export const INTERACTIVE_MIME = 'application/vnd.codeagent.interactive.v1+json';
/** Before every static form: the renderer shows those itself, above its button. */
const RANK = 10;
const CLASS = 'jp-CodeAgent-interactive';

const MAX_HEIGHT_PX = 1200;
/** Until the content reports its height. A page may fill whatever height it is given, and then never grows. */
const FIRST_HEIGHT_PX = { plotly: 150, vega: 150, 'vega-lite': 150, html: 400 };
/** A page that changes its height without end would keep the notebook moving. */
const MAX_HEIGHT_CHANGES = 100;

export type Interactive =
  | { kind: ChartKind; content: object }
  | {
      kind: 'html';
      content: string;
    };

/** The entry if it is of the form that `outputs/interactive.py` writes: a notebook may come from anywhere. */
export function interactiveOf(value: unknown): Interactive | null {
  if (typeof value !== 'object' || value === null) {
    return null;
  }
  const { version, kind, content } = value as Record<string, unknown>;
  if (version !== 1) {
    return null;
  }
  if (kind === 'html') {
    return typeof content === 'string' ? { kind, content } : null;
  }
  const isObject = typeof content === 'object' && content !== null && !Array.isArray(content);
  return isObject && (kind === 'plotly' || kind === 'vega' || kind === 'vega-lite')
    ? { kind, content }
    : null;
}

/** Pixels to show, or null if the message is no height. */
export function heightOf(data: unknown): number | null {
  const height =
    typeof data === 'object' && data !== null && (data as Record<string, unknown>).codeagentHeight;
  return typeof height === 'number' && height > 0 ? Math.min(MAX_HEIGHT_PX, Math.ceil(height)) : null;
}

export interface IInteractiveServices {
  rendermime: IRenderMimeRegistry;
  trans: TranslationBundle;
  load: LoadLibraries;
}

export function addInteractiveRenderer(services: IInteractiveServices): void {
  const factory: IRenderMime.IRendererFactory = {
    safe: true,
    mimeTypes: [INTERACTIVE_MIME],
    defaultRank: RANK,
    createRenderer: options => new InteractiveOutput(options.mimeType, services)
  };
  services.rendermime.addFactory(factory, RANK);
}

/** The static form of the same output if there is one, a button, and the frame while it is displayed. */
export class InteractiveOutput extends Panel implements IRenderMime.IRenderer {
  constructor(
    private readonly _mimeType: string,
    private readonly _services: IInteractiveServices
  ) {
    super();
    this.addClass(CLASS);
    this._button.type = 'button';
    this._button.className = 'jp-CodeAgent-button';
    this._button.addEventListener('click', () => void this._toggle());
    this._note.className = `${CLASS}Note`;
    this._note.setAttribute('role', 'status');
    const bar = new Widget();
    bar.addClass(`${CLASS}Bar`);
    bar.node.dataset.lmSuppressShortcuts = 'true'; // Enter presses the button and edits no cell
    bar.node.append(this._button, this._note);
    this._host.addClass(`${CLASS}Host`);
    this.addWidget(this._static);
    this.addWidget(bar);
    this.addWidget(this._host);
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this._hide();
    this._entry = interactiveOf(model.data[this._mimeType]);
    this._button.hidden = this._entry === null;
    this._say(
      this._entry
        ? ''
        : this._services.trans.__('This version cannot display this kind of interactive output.')
    );
    await this._renderStatic(model);
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._hide();
    }
    super.dispose();
  }

  /** Moving a frame in the document starts it anew, without the person's click. */
  protected onBeforeDetach(message: Message): void {
    this._hide();
    super.onBeforeDetach(message);
  }

  private async _renderStatic(model: IRenderMime.IMimeModel): Promise<void> {
    for (const old of [...this._static.widgets]) {
      old.dispose();
    }
    const data = { ...model.data };
    delete data[this._mimeType];
    const { rendermime } = this._services;
    const mimeType = rendermime.preferredMimeType(data, model.trusted ? 'any' : 'ensure');
    // The text of a chart object repeats what the button says.
    if (!mimeType || (mimeType === 'text/plain' && this._entry !== null)) {
      return;
    }
    const renderer = rendermime.createRenderer(mimeType);
    this._static.addWidget(renderer);
    await renderer.renderModel(new MimeModel({ data, metadata: model.metadata, trusted: model.trusted }));
  }

  private async _toggle(): Promise<void> {
    if (this._frame) {
      this._hide();
      return;
    }
    const entry = this._entry;
    if (!entry || this._button.disabled) {
      return;
    }
    const { trans } = this._services;
    this._button.disabled = true;
    this._say(trans.__('Loading …'));
    try {
      const page = await this._page(entry);
      if (!this.isDisposed && entry === this._entry) {
        this._show(page, FIRST_HEIGHT_PX[entry.kind]);
      }
    } catch (error) {
      this._say((error as Error).message);
    } finally {
      this._button.disabled = false;
    }
  }

  private async _page(entry: Interactive): Promise<IPage> {
    if (entry.kind === 'html') {
      return htmlPage(entry.content);
    }
    return chartPage({ ...entry, libraries: await this._services.load(entry.kind) });
  }

  private _show(page: IPage, height: number): void {
    const { trans } = this._services;
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.setAttribute('allow', '');
    frame.setAttribute('referrerpolicy', 'no-referrer');
    frame.title = trans.__('Interactive output from the sandbox, in a closed frame');
    frame.style.height = `${height}px`;
    frame.srcdoc = page.outer;
    this._frame = frame;
    this._height = height;
    this._heightChanges = 0;
    window.addEventListener('message', this._onMessage);
    this._static.hide();
    this._host.node.replaceChildren(frame);
    this._say(noteOf(page, trans));
  }

  private _hide(): void {
    window.removeEventListener('message', this._onMessage);
    this._frame = null;
    this._host.node.replaceChildren();
    this._static.show();
    this._say('');
  }

  /** The one thing that the frame may say: how high its content is. */
  private readonly _onMessage = (event: MessageEvent): void => {
    const frame = this._frame;
    const outer = frame?.contentWindow;
    // The content is the only child of the outer frame, once it is there: asking for it before is an error.
    if (!frame || !outer || outer.length === 0 || event.source !== outer[0]) {
      return;
    }
    const height = heightOf(event.data);
    // Only higher: a notebook that shrinks and grows again loses its scroll position.
    if (height !== null && height > this._height && this._heightChanges < MAX_HEIGHT_CHANGES) {
      this._heightChanges += 1;
      this._height = height;
      frame.style.height = `${height}px`;
    }
  };

  private _say(text: string): void {
    const { trans } = this._services;
    this._button.textContent = this._frame
      ? trans.__('Hide')
      : trans.__('Show interactive chart (runs in a closed frame without network access)');
    this._button.setAttribute('aria-expanded', String(this._frame !== null));
    this._note.textContent = text;
  }

  private readonly _button = document.createElement('button');
  private readonly _note = document.createElement('span');
  private readonly _static = new Panel();
  private readonly _host = new Widget();
  private _entry: Interactive | null = null;
  private _frame: HTMLIFrameElement | null = null;
  private _height = 0;
  private _heightChanges = 0;
}

function noteOf(page: IPage, trans: TranslationBundle): string {
  const notes = [
    page.remote.length &&
      trans.__('Not loaded, because the frame has no network: %1.', hostsOf(page.remote).join(', ')),
    page.hasScripts &&
      trans.__(
        'Its scripts are not run. For an interactive chart, ask for a Plotly or Altair chart as the result itself.'
      )
  ];
  return notes.filter(Boolean).join(' ');
}

/** Short names, capped: the addresses come from the sandbox. */
function hostsOf(addresses: readonly string[]): string[] {
  const names = addresses.map(address =>
    address
      .replace(/^[a-z]*:?\/\//i, '')
      .split(/[/?#]/)[0]
      .slice(0, 60)
  );
  const all = [...new Set(names)];
  return all.length > 3 ? [...all.slice(0, 3), '…'] : all;
}
