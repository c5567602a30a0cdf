/** What JupyterLab expects of a browser and jsdom does not have. */
class NoObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

const lacking: Record<string, unknown> = {
  DragEvent: class extends Event {},
  ResizeObserver: NoObserver,
  IntersectionObserver: NoObserver,
  matchMedia: () => ({ matches: false, addEventListener() {}, addListener() {}, removeListener() {} }),
  requestIdleCallback: (callback: () => void) => setTimeout(callback, 0)
};
const scope = globalThis as unknown as Record<string, unknown>;
for (const [name, value] of Object.entries(lacking)) {
  scope[name] ??= value;
}
Element.prototype.scrollIntoView ??= () => undefined;

/** Of what is waited for: a second, which is vitest's own limit, can pass on a machine with much else to do. */
const WAIT_MS = 30_000;
const waitFor = vi.waitFor.bind(vi);
vi.waitFor = (check, options = WAIT_MS) => waitFor(check, options);

// All files share one document: what another one left in it, and left the focus in, is none of this one's.
beforeAll(() => document.body.replaceChildren());
