import { notebookOf } from '../testing/notebooks';
import { askedToShare, isEmpty, joinedSharing, readSharing, writeSharing } from './sharingmetadata';

const NOBODY = new Set<string>();
const withMetadata = (value: unknown): ReturnType<typeof notebookOf> => {
  const notebook = notebookOf('x');
  notebook.setMetadata('codeagent', value);
  return notebook;
};

describe('reading', () => {
  it('takes names and lists of text, whatever else is in the metadata', () => {
    const hostile = {
      shared: { a: 'hidden', b: 'shared', c: 'auto', d: 7, '<img src=x>': 'hidden', _private: 'hidden' },
      hidden_columns: { a: ['x', 7, null, 'y'], b: 'x', c: [], ['__proto__']: ['x'], constructor: ['x'] }
    };
    expect(readSharing(withMetadata(hostile))).toEqual({
      shared: { a: 'hidden', b: 'shared' },
      hidden_columns: { a: ['x', 'y'], constructor: ['x'] }
    });
  });

  it.each([[undefined], [null], ['x'], [7], [[]], [{}], [{ shared: [], hidden_columns: 'x' }]])(
    '%j hides nothing',
    value => {
      const notebook = value === undefined ? null : withMetadata(value);
      expect(isEmpty(readSharing(notebook))).toBe(true);
    }
  );
});

it('of several notebooks, what one of them hides is hidden', () => {
  const joined = joinedSharing(
    [
      { shared: { a: 'shared', b: 'shared' }, hidden_columns: { constructor: ['x'], f: ['x'] } },
      { shared: { a: 'hidden' }, hidden_columns: { f: ['y', 'x'] } }
    ],
    new Set(['a', 'b'])
  );
  expect(joined).toEqual({
    shared: { a: 'hidden', b: 'shared' },
    hidden_columns: { constructor: ['x'], f: ['x', 'y'] }
  });
});

describe('writing', () => {
  const lists = { shared: { a: 'hidden' as const }, hidden_columns: { f: ['y', 'x'] } };

  it('is one entry in a fixed order, beside what others keep there', () => {
    const notebook = withMetadata({ later: 1 });
    expect(writeSharing(notebook, lists, NOBODY)).toBe(true);
    expect(notebook.getMetadata('codeagent')).toEqual({
      later: 1,
      version: 1,
      shared: { a: 'hidden' },
      hidden_columns: { f: ['x', 'y'] }
    });
    expect(writeSharing(notebook, { ...lists, hidden_columns: { f: ['x', 'y'] } }, NOBODY)).toBe(false);
  });

  it('cannot be undone by accident', () => {
    const notebook = notebookOf('x');
    writeSharing(notebook, lists, NOBODY);
    expect(notebook.canUndo()).toBe(false);
  });

  it('takes back what is no longer shared, and leaves what nobody has agreed to', () => {
    const notebook = withMetadata({ shared: { mine: 'shared', theirs: 'shared' } });
    expect(askedToShare(notebook, { shared: {}, hidden_columns: {} })).toEqual(new Set(['mine', 'theirs']));
    writeSharing(notebook, { shared: {}, hidden_columns: {} }, new Set(['mine']));
    expect(readSharing(notebook).shared).toEqual({ theirs: 'shared' });
  });
});
