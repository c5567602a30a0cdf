/**
 * The documents of the two nested frames that show hostile content: text in, text out.
 *
 * Why two: a frame may always navigate itself, and the address it goes to is a message to the network. Only the
 * policy of the frame around it stops that, so the outer frame holds nothing but a policy and the inner frame.
 *
 * Why every script is known by its hash: only ours may run, not what a chart smuggled through its library. Each is
 * preceded by a line that deletes WebRTC, which no policy that browsers enforce today covers.
 */
import { sha256 } from '../common/sha256';
import type { ChartKind } from './libraries';
import { PRELUDE as PRELUDE_TEXT } from './prelude';

export interface IPage {
  /** `srcdoc` of the outer frame. */
  outer: string;
  /** Whether the content has scripts of its own, which are not run. */
  hasScripts: boolean;
  /** Addresses in the content that scripts or styles would be loaded from: nothing is. */
  remote: string[];
}

/** What reaches the network without asking the content security policy. */
const REMOVED = [
  'RTCPeerConnection',
  'webkitRTCPeerConnection',
  'mozRTCPeerConnection',
  'RTCIceTransport',
  'RTCIceGatherer',
  'RTCDtlsTransport',
  'RTCSctpTransport',
  'RTCDataChannel'
];
/** `this` of a script is its window whatever the script declares, and `delete` cannot be replaced. */
export const GUARD = REMOVED.map(name => `delete this.${name};`).join('') + '\n';

const MAX_DEPTH = 3;

/** Tells the page how high the content is; the page checks the number and where it comes from. */
const HEIGHT_SCRIPT = `(() => {
  const tell = () => parent.parent.postMessage(
    { codeagentHeight: Math.ceil(document.documentElement.getBoundingClientRect().height) }, '*');
  new ResizeObserver(tell).observe(document.documentElement);
})();`;

export interface IChart {
  kind: ChartKind;
  content: object;
  /** Texts of the scripts it is drawn with, in order. */
  libraries: readonly string[];
}

export function chartPage(chart: IChart): IPage {
  const target = '<div id="chart"></div>';
  const scripts = [...chart.libraries, starter(chart.kind)].map(text => GUARD + withoutMarkup(text));
  const page =
    target + dataElement('content', chart.content) + [PRELUDE, ...scripts].map(scriptElement).join('');
  return { outer: outerDocument(page, scripts), hasScripts: false, remote: [] };
}

/**
 * The page without its scripts. Chromium looks up the host that a frame wants to go to before any policy refuses it
 * (seen in the net log of Chromium 156 with its default preloading), and no script can be kept from `location = …`:
 * a script of the sandbox could tell data in a host's name. Charts are data, and drawn by scripts that we bring.
 */
export function htmlPage(html: string): IPage {
  const page = unpacked(html);
  return {
    outer: outerDocument(dataElement('html', page.html) + scriptElement(PRELUDE), []),
    hasScripts: page.document.querySelector('script') !== null,
    remote: remoteAddresses(page.document)
  };
}

const PRELUDE = GUARD + PRELUDE_TEXT;

/** Within a string of JSON an escaped < is the same, and ends no element. */
function dataElement(id: string, value: unknown): string {
  return `<script type="application/json" id="${id}">${JSON.stringify(value).replace(/</g, '\\u003c')}</script>`;
}

function scriptElement(text: string): string {
  return `<script>${text}</script>`;
}

function starter(kind: ChartKind): string {
  const draw =
    kind === 'plotly'
      ? `Plotly.newPlot('chart', { data: content.data, layout: content.layout ?? {}, frames: content.frames ?? [],
          config: { responsive: true, displaylogo: false } })`
      : // The interpreter instead of generated code; options in the specification itself could overrule these.
        `(delete content.usermeta, vegaEmbed('#chart', content, { mode: '${kind}', ast: true, actions: false }))`;
  return `(async () => {
  const content = JSON.parse(document.getElementById('content').textContent);
  try { await ${draw}; }
  catch (error) { document.getElementById('chart').textContent = String(error); }
})();`;
}

/** A library's text may hold these in strings and regular expressions, where the backslash changes nothing. */
function withoutMarkup(text: string): string {
  return text.replace(/<(?=\/script|script|!--)/gi, '\\x3c');
}

/** The page; or the one in its only frame, as folium writes it: frames further inside are not drawn. */
function unpacked(html: string, depth = 0): { html: string; document: Document } {
  // Parsed without a window: nothing is loaded and nothing runs.
  const page = new DOMParser().parseFromString(html, 'text/html');
  const frames = page.querySelectorAll('iframe[srcdoc]');
  const inner =
    frames.length === 1 && !page.querySelector('script') ? frames[0].getAttribute('srcdoc') : null;
  return inner && depth < MAX_DEPTH ? unpacked(inner, depth + 1) : { html, document: page };
}

function base64Hash(text: string): string {
  const bytes = (sha256(text).match(/../g) ?? []).map(byte => String.fromCharCode(parseInt(byte, 16)));
  return btoa(bytes.join(''));
}

function remoteAddresses(page: Document): string[] {
  const sources = Array.from(
    page.querySelectorAll('script[src]'),
    script => script.getAttribute('src') ?? ''
  );
  const styles = Array.from(
    page.querySelectorAll('link[rel~="stylesheet" i][href]'),
    link => link.getAttribute('href') ?? ''
  );
  return [...sources, ...styles].filter(address => !address.trim().toLowerCase().startsWith('data:'));
}

function outerDocument(body: string, content: readonly string[]): string {
  const height = GUARD + HEIGHT_SCRIPT;
  const inner =
    '<!doctype html><html><head><meta charset="utf-8">' +
    '<style>body{margin:8px;background:#fff;color:#000;font-family:sans-serif}</style></head>' +
    `<body>${body}${scriptElement(height)}</body></html>`;
  const hashes = new Set([PRELUDE, height, ...content].map(base64Hash));
  const scripts = [...hashes].map(hash => `'sha256-${hash}'`).join(' ');
  const policy = [
    "default-src 'none'",
    // Generated code is made by a script that ran the guard; Plotly's WebGL traces and Bokeh's callbacks need it.
    `script-src ${scripts} 'unsafe-eval'`,
    "script-src-attr 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    'media-src data: blob:',
    'font-src data:',
    "connect-src 'none'",
    "frame-src 'none'",
    "child-src 'none'",
    "worker-src 'none'",
    "object-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
    // In the standard, but Chromium 156 does not know it; see the guard.
    "webrtc 'block'"
  ].join('; ');
  return [
    '<!doctype html><html><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">`,
    '<meta http-equiv="x-dns-prefetch-control" content="off"><meta name="referrer" content="no-referrer">',
    '<style>html,body,iframe{display:block;margin:0;border:0;width:100%;height:100%}</style></head><body>',
    `<iframe sandbox="allow-scripts" allow="" referrerpolicy="no-referrer" srcdoc="${escaped(inner)}"></iframe>`,
    '</body></html>'
  ].join('');
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');
}
