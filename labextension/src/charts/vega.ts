/** Vega's own minified files as text: half a megabyte, so this module is only ever imported lazily. */
import embed from '../../node_modules/vega-embed/build/vega-embed.min.js?raw';
import lite from '../../node_modules/vega-lite/build/vega-lite.min.js?raw';
import vega from '../../node_modules/vega/build/vega.min.js?raw';

export default [vega, lite, embed] as readonly string[];
