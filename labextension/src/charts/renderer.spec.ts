import { MimeModel, RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { sha256 } from '../common/sha256';
import { chartPage, GUARD, htmlPage } from './frames';
import type { LoadLibraries } from './libraries';
import { libraries } from './libraries';
import type { InteractiveOutput } from './renderer';
import { addInteractiveRenderer, heightOf, INTERACTIVE_MIME, interactiveOf } from './renderer';

const HTML = { version: 1, kind: 'html', content: '<p>text</p><script>draw()</script>' };
const CHART = { version: 1, kind: 'vega', content: { marks: [] } };
const load: LoadLibraries = async () => ['/* library */'];

function registry(loading: LoadLibraries = load): RenderMimeRegistry {
  const rendermime = new RenderMimeRegistry({ initialFactories: standardRendererFactories });
  addInteractiveRenderer({ rendermime, trans: nullTranslator.load('x'), load: loading });
  return rendermime;
}

async function shown(
  data: Record<string, unknown>,
  { loading = load, trusted = false } = {}
): Promise<InteractiveOutput> {
  const rendermime = registry(loading);
  const widget = rendermime.createRenderer(rendermime.preferredMimeType(data as never)!) as InteractiveOutput;
  Widget.attach(widget, document.body);
  await widget.renderModel(new MimeModel({ data: data as never, trusted }));
  return widget;
}

const button = (widget: Widget): HTMLButtonElement => widget.node.querySelector('button')!;
const frames = (widget: Widget): NodeListOf<HTMLIFrameElement> => widget.node.querySelectorAll('iframe');
async function click(widget: Widget): Promise<void> {
  button(widget).click();
  await vi.waitFor(() => expect(button(widget).disabled).toBe(false));
}

function documents(outer: string): { policy: string; frame: HTMLIFrameElement; inner: Document } {
  const parser = new DOMParser();
  const page = parser.parseFromString(outer, 'text/html');
  const frame = page.querySelector('iframe')!;
  return {
    policy: page.querySelector('meta[http-equiv="Content-Security-Policy"]')!.getAttribute('content')!,
    frame,
    inner: parser.parseFromString(frame.getAttribute('srcdoc')!, 'text/html')
  };
}

const hashOf = (text: string): string => `'sha256-${Buffer.from(sha256(text), 'hex').toString('base64')}'`;
const scriptsOf = (page: Document): HTMLScriptElement[] => Array.from(page.querySelectorAll('script'));

afterEach(() => document.body.replaceChildren());

describe('the output', () => {
  it('is preferred to static forms, trusted or not, and makes no frame by itself', async () => {
    const data = { [INTERACTIVE_MIME]: HTML, 'text/html': '<b>static</b>', 'text/plain': 'plain' };
    for (const safe of ['ensure', 'prefer', 'any'] as const) {
      expect(registry().preferredMimeType(data, safe)).toBe(INTERACTIVE_MIME);
    }
    const widget = await shown(data);
    expect(frames(widget)).toHaveLength(0);
    expect(widget.node.querySelector('script')).toBeNull();
    expect(widget.node.textContent).toContain('static');
    expect(button(widget).textContent).toContain('closed frame without network');
    expect(button(widget).getAttribute('aria-expanded')).toBe('false');
  });

  it('shows a frame that allows scripts and nothing else after a click, and none after Hide', async () => {
    const widget = await shown({ [INTERACTIVE_MIME]: HTML });
    await click(widget);
    const [frame] = frames(widget);
    expect(frame.getAttribute('sandbox')).toBe('allow-scripts');
    expect(frame.getAttribute('allow')).toBe('');
    expect(frame.getAttribute('referrerpolicy')).toBe('no-referrer');
    expect(frame.hasAttribute('src')).toBe(false);
    expect(button(widget).getAttribute('aria-expanded')).toBe('true');
    await click(widget);
    expect(frames(widget)).toHaveLength(0);
  });

  it.each(['dispose', 'detach', 'a new model'])('leaves nothing running after %s', async how => {
    const removed = vi.spyOn(window, 'removeEventListener');
    const widget = await shown({ [INTERACTIVE_MIME]: HTML });
    await click(widget);
    removed.mockClear();
    if (how === 'dispose') {
      widget.dispose();
    } else if (how === 'detach') {
      Widget.detach(widget);
    } else {
      await widget.renderModel(new MimeModel({ data: { [INTERACTIVE_MIME]: HTML } as never }));
    }
    expect(document.querySelector('iframe')).toBeNull();
    expect(frames(widget)).toHaveLength(0);
    expect(removed).toHaveBeenCalledWith('message', expect.any(Function));
    removed.mockRestore();
  });

  it('starts no frame when it was disposed while its library was loading', async () => {
    let finish = (_: readonly string[]): void => undefined;
    const loading = new Promise<readonly string[]>(resolve => (finish = resolve));
    const widget = await shown({ [INTERACTIVE_MIME]: CHART }, { loading: () => loading });
    button(widget).click();
    widget.dispose();
    finish(['']);
    await loading;
    await new Promise(resolve => setTimeout(resolve));
    expect(frames(widget)).toHaveLength(0);
  });

  it('says why when its library cannot be loaded', async () => {
    const loading = (): Promise<never> => Promise.reject(new Error('pip install plotly'));
    const widget = await shown({ [INTERACTIVE_MIME]: CHART }, { loading });
    await click(widget);
    expect(widget.node.querySelector('[role=status]')!.textContent).toBe('pip install plotly');
    expect(frames(widget)).toHaveLength(0);
  });

  it('names the places that a page would load from', async () => {
    const content = '<script src="https://cdn.example/a.js?x=1"></script><script>draw()</script>';
    const widget = await shown({ [INTERACTIVE_MIME]: { version: 1, kind: 'html', content } });
    await click(widget);
    expect(widget.node.querySelector('[role=status]')!.textContent).toMatch(/no network: cdn\.example\. /);
  });

  it('offers no button for an entry of another form', async () => {
    const widget = await shown({ [INTERACTIVE_MIME]: { ...HTML, version: 2 }, 'text/plain': 'plain' });
    expect(button(widget).hidden).toBe(true);
    expect(widget.node.textContent).toContain('plain');
  });

  it('takes a height only from the content of its own frame, and only a higher one', async () => {
    const widget = await shown({ [INTERACTIVE_MIME]: HTML });
    await click(widget);
    const [frame] = frames(widget);
    const content = {} as Window;
    const outer = { 0: content, length: 1 } as unknown as Window;
    Object.defineProperty(frame, 'contentWindow', { value: outer });
    const say = (source: unknown, codeagentHeight: unknown): void => {
      const event = new MessageEvent('message', { data: { codeagentHeight } });
      Object.defineProperty(event, 'source', { value: source });
      window.dispatchEvent(event);
    };
    for (const stranger of [window, outer, {}, null, undefined]) {
      say(stranger, 700);
    }
    expect(frame.style.height).toBe('400px');
    say(content, 700);
    say(content, 500);
    expect(frame.style.height).toBe('700px');
    Array.from({ length: 200 }, (_, i) => say(content, 701 + i));
    expect(frame.style.height).toBe('799px'); // 100 changes, the first of them to 700
  });
});

describe('what is read from outside', () => {
  it.each([
    null,
    'x',
    {},
    { ...HTML, version: '1' },
    { ...HTML, kind: 'javascript' },
    { ...HTML, content: {} },
    { ...CHART, content: 'x' },
    { ...CHART, content: [] },
    { ...CHART, content: null }
  ])('%j is no entry', value => expect(interactiveOf(value)).toBeNull());

  it.each([[null], [{}], ['700'], [NaN], [-1], [0], ['5px'], [[5]], [true]])('%j is no height', height =>
    expect(heightOf({ codeagentHeight: height })).toBeNull()
  );

  it('caps a height', () => expect(heightOf({ codeagentHeight: Infinity })).toBe(1200));
});

describe('the frames', () => {
  it('hold the content in a second frame, as data, under a policy without network', () => {
    const html = '<p title="&quot;">a & "b"</p></script><!--<script>';
    const { policy, frame, inner } = documents(htmlPage(html).outer);
    expect(frame.getAttribute('sandbox')).toBe('allow-scripts');
    expect(frame.getAttribute('allow')).toBe('');
    expect(frame.getAttribute('referrerpolicy')).toBe('no-referrer');
    expect(JSON.parse(inner.getElementById('html')!.textContent!)).toBe(html);
    expect(inner.querySelector('p, meta[http-equiv]')).toBeNull();
    const directives = new Map(
      policy.split('; ').map(part => part.split(/ (.*)/).slice(0, 2) as [string, string])
    );
    for (const name of ['default-src', 'connect-src', 'frame-src', 'worker-src', 'form-action', 'base-uri']) {
      expect(directives.get(name)).toBe("'none'");
    }
    expect(directives.get('require-trusted-types-for')).toBe("'script'");
    expect(directives.get('trusted-types')).toBe('default');
    expect(policy).not.toMatch(
      /https?:|\*|script-src[^;]*'(?:unsafe-inline|unsafe-hashes|strict-dynamic|self|nonce)/
    );
  });

  it('run no script of the content', () => {
    const html = '<script>first()</script><svg><script>vector()</script></svg><p onclick="handler()">x</p>';
    const page = htmlPage(html);
    const { policy, inner } = documents(page.outer);
    const own = scriptsOf(inner).filter(script => script.type !== 'application/json');
    expect(own).toHaveLength(2);
    expect(own.every(script => script.textContent!.startsWith(GUARD))).toBe(true);
    expect(policy.match(/'sha256-[^']+'/g)!.sort()).toEqual(
      own.map(script => hashOf(script.textContent!)).sort()
    );
    expect(page.hasScripts).toBe(true);
  });

  it('unpack a page that is written into a frame', () => {
    const { inner } = documents(
      htmlPage(`<div><iframe srcdoc="<script>map()</script>"></iframe></div>`).outer
    );
    expect(JSON.parse(inner.getElementById('html')!.textContent!)).toBe('<script>map()</script>');
  });

  it('give a chart its content as data that ends no element, after the prelude', () => {
    const content = { title: '</script><script>bad()</script><!--', usermeta: {} };
    const { policy, inner } = documents(
      chartPage({ kind: 'vega-lite', content, libraries: ['lib("</script><!--")', 'second()'] }).outer
    );
    const [data, before, ...code] = scriptsOf(inner);
    expect(JSON.parse(data.textContent!)).toEqual(content);
    expect(before.textContent).toContain('trustedTypes.createPolicy');
    expect(code).toHaveLength(4);
    expect(code[0].textContent).toBe(`${GUARD}lib("\\x3c/script>\\x3c!--")`);
    expect(code[2].textContent).toContain("mode: 'vega-lite', ast: true");
    expect([before, ...code].every(script => policy.includes(hashOf(script.textContent!)))).toBe(true);
  });
});

describe('the libraries', () => {
  it('are Vega, Vega-Lite and the embedder from the extension itself', async () => {
    const texts = await libraries({ library: () => Promise.reject(new Error('not asked')) })('vega-lite');
    expect(texts).toHaveLength(3);
    expect(texts.every(text => text.length > 50_000)).toBe(true);
    expect(texts.join('')).not.toMatch(/<\/script/i);
  });

  it('are Plotly from the server', async () => {
    expect(await libraries({ library: async name => name })('plotly')).toEqual(['plotly']);
  });
});
