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
