import type { IOutput } from '@jupyterlab/nbformat';

import { previewOf } from './previewcontent';

const shown = (data: object, output_type = 'display_data'): IOutput =>
  ({ output_type, data, metadata: {} }) as unknown as IOutput;
const printed = (text: string, name = 'stdout'): IOutput => ({ output_type: 'stream', name, text });
const lines = (count: number): string => Array.from({ length: count }, (_, i) => `${i}`).join('\n');

it('a picture is shown as itself', () => {
  expect(previewOf([shown({ 'image/png': 'iVBO\nRw==', 'text/plain': '<Figure>' })])).toEqual({
    kind: 'image',
    src: 'data:image/png;base64,iVBORw=='
  });
});

it.each(['x" onerror="alert(1)', 'javascript:alert(1)', '<svg onload=alert(1)>', ''])(
  'a picture is never anything but a picture: %s',
  data => {
    expect(previewOf([shown({ 'image/png': data, 'text/plain': 'text' })])).toMatchObject({ text: 'text' });
  }
);

it('of a table five rows are shown below its heads, of HTML nothing', () => {
  const table = `   n\ni   \n${lines(20)}`;
  expect(previewOf([shown({ 'text/html': '<img onerror=x>', 'text/plain': table })])).toEqual({
    kind: 'text',
    text: `   n\ni   \n${lines(5)}`,
    more: 15
  });
  const framed = `shape: (20, 1)\n┌───┐\n│ n │\n│ - │\n│ i │\n╞═══╡\n${lines(20)}`;
  const preview = previewOf([shown({ 'text/html': 'x', 'text/plain': framed })]);
  expect(preview).toMatchObject({ more: 15 });
});

it('a result comes before what was printed, what was printed before nothing, and errors are no result', () => {
  const result = shown({ 'text/plain': '7' }, 'execute_result');
  expect(previewOf([printed('reading …'), result])).toMatchObject({ text: '7', more: 0 });
  expect(previewOf([printed('warning', 'stderr'), printed(lines(7))])).toMatchObject({
    text: lines(5),
    more: 2
  });
  const error = { output_type: 'error', ename: 'E', evalue: 'v', traceback: [] };
  expect(previewOf([error, printed(' \n'), shown({ 'text/plain': '' })])).toBeNull();
});

it('a line of a million characters is cut', () => {
  const preview = previewOf([printed('x'.repeat(1_000_000))]);
  expect(preview!.kind === 'text' && preview!.text.length).toBeLessThan(10_000);
});
