import { isCellId, isAgentCell, escapeExpressions, shellQuoted } from './magicline';

it.each(['\n', '\r', '\v', '\f', '\u001c', '\u001d', '\u001e', '\u0085', '\u2028', '\u2029'])(
  'the name of a model cannot end the line of the options: what follows would be a body, and evaluated: %j',
  end => {
    expect(shellQuoted(`m${end}{{__import__('os').system('id')}}`)).toBe(
      `'m {{__import__('"'"'os'"'"').system('"'"'id'"'"')}}'`
    );
  }
);

it('a word stays one word, whatever a shell would read in it', () => {
  expect(['qwen2.5:7b', 'a,b[c]', ''].map(shellQuoted)).toEqual(['qwen2.5:7b', 'a,b[c]', "''"]);
  expect(['a; b', '!ls', '{x}', 'a"b', "a'b", '#x', '\\'].map(shellQuoted)).toEqual([
    ...["'a; b'", "'!ls'", "'{x}'", `'a"b'`, `'a'"'"'b'`, "'#x'", "'\\'"]
  ]);
});

it('what looks like an expression in a recorded prompt is text', () => {
  expect(escapeExpressions('{{a}} {{{b}}} \\{{c}}')).toBe('\\{{a}} \\{{{b}}} \\\\{{c}}');
});

it('an id is a cell id only as nbformat has it', () => {
  expect(['aaaa-1', 'a_b', 'x'.repeat(64)].every(isCellId)).toBe(true);
  const others = ["x\nimport os; os.system('id')\n#1", 'x\n', '', 'x'.repeat(65), 'a b', 'a;b', 'a\\', 'ä'];
  expect(others.filter(isCellId)).toEqual([]);
});

it.each([
  ['%%agent', true],
  ['%%agent -n\nWhich month?', true],
  ['%%agents', false],
  [' %%agent', false],
  ['# %%agent', false]
])('%j asks the agent: %s', (source, asks) => {
  expect(isAgentCell(source)).toBe(asks);
});
