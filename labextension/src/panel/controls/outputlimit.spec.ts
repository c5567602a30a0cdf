import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';

import { truncated } from './outputlimit';

const trans = nullTranslator.load('jupyterlab');

describe('outputs in the panel', () => {
  it('shows the beginning of a long text and says how much more there is', () => {
    const [stream] = truncated(
      [{ output_type: 'stream', name: 'stdout', text: 'x'.repeat(1250) }],
      trans,
      50
    );
    expect(stream.text).toBe(`${'x'.repeat(50)}\n… ${(1200).toLocaleString()} more characters`);
    const [result] = truncated(
      [
        {
          output_type: 'execute_result',
          execution_count: null,
          data: { 'text/plain': 'é'.repeat(60) },
          metadata: {}
        }
      ],
      trans,
      50
    );
    expect((result.data as Record<string, string>)['text/plain']).toContain('… 10 more characters');
  });

  it('shows a very large table as text, and leaves the outputs of the run as they are', () => {
    const table = {
      output_type: 'display_data',
      data: { 'text/plain': 'short', 'text/html': '<td>1</td>'.repeat(100), 'image/png': 'AAAA' },
      metadata: {}
    };
    const [shown] = truncated([table], trans, 50);
    expect(shown.data).toEqual({ 'text/plain': 'short', 'image/png': 'AAAA' });
    expect(table.data['text/html']).toHaveLength(1000);
  });

  it('shows short outputs, errors and joined lines whole', () => {
    const error = { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['t'] };
    const [stream, kept] = truncated(
      [{ output_type: 'stream', name: 'stdout', text: ['a\n', 'b'] }, error],
      trans,
      50
    );
    expect(stream.text).toBe('a\nb');
    expect(kept).toEqual(error);
  });

  it('does not cut a character in two', () => {
    const [stream] = truncated([{ output_type: 'stream', name: 'stdout', text: '😀'.repeat(10) }], trans, 5);
    expect(String(stream.text).split('\n')[0]).toBe('😀😀');
  });
});
