import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globals: true,
    isolate: false,
    environment: 'jsdom',
    include: ['src/**/*.spec.{ts,tsx}'],
    css: false,
    setupFiles: ['./vitest.setup.ts'],
    // These run beside the Python tests on two processors: what hangs is told from what waits for its turn.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Said by @jupyter/ydoc's own way of making cells, at every cell.
    onConsoleLog: log => !log.startsWith('Invalid access: Add Yjs type to a document'),
    // The packages import CSS and SVG files, which Node cannot load by itself.
    server: { deps: { inline: [/@jupyterlab\//, /@jupyter\//, /@lumino\//, /@rjsf/] } }
  },
  plugins: [
    {
      name: 'svg-as-string',
      enforce: 'pre',
      load(id) {
        return id.split('?')[0].endsWith('.svg')
          ? 'export default "<svg xmlns=\\"http://www.w3.org/2000/svg\\"/>"'
          : undefined;
      }
    }
  ]
});
