import { LabIcon } from '@jupyterlab/ui-components';

/** A cell with a spark: the colour follows the theme (`jp-icon3`). */
export const agentIcon = new LabIcon({
  name: 'jupyter-codeagent:icon',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <g class="jp-icon3" fill="#616161">
    <path d="M5 4h8v2H5v12h14v-6h2v6a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z"/>
    <path d="M18 1l1.2 3.8L23 6l-3.8 1.2L18 11l-1.2-3.8L13 6l3.8-1.2z"/>
    <path d="M7 9l4 3.5L7 16v-2.2l1.7-1.3L7 11.2zM12 15h5v1.6h-5z"/>
  </g>
</svg>`
});

/** A closed shield: nothing got through. */
export const shieldIcon = new LabIcon({
  name: 'jupyter-codeagent:shield',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M12 1 3 5v6c0 5.5 3.8 10.7 9 12 5.2-1.3 9-6.5 9-12V5zm-2 16-4-4 1.41-1.41L10 14.17l6.59-6.59L18 9z"/>
</svg>`
});

/** A shield with an exclamation mark: something got through, or nothing isolates. */
export const openShieldIcon = new LabIcon({
  name: 'jupyter-codeagent:shield-open',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M12 1 3 5v6c0 5.5 3.8 10.7 9 12 5.2-1.3 9-6.5 9-12V5zm-1 6h2v6h-2zm0 8h2v2h-2z"/>
</svg>`
});
