/* global module */
// Merged into the builder's configuration. `…?raw` imports a file as text, as in Vite, which runs the tests.
module.exports = {
  module: { rules: [{ resourceQuery: /^\?raw$/, type: 'asset/source' }] }
};
