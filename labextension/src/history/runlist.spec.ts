import { itemsBetween, layOut, highlight, keyTarget, offsetOf } from '../panel/history/listlayout';
import type { IRunFilter, IRunLine } from './client';
import { PAGE_SIZE, RunList } from './runlist';

const noon = (day: number): number => new Date(2026, 2, day, 12).getTime() / 1000;

describe('the layout', () => {
  // 29 March 2026 has 23 hours where the clocks change.
  const times = [noon(30) + 60, noon(30), noon(29), noon(29) - 60, noon(29) - 120, noon(1)];
  const layout = layOut(times, 50, 20);

  it('puts a heading above each day', () => {
    expect(layout.days.map(({ first, count, top }) => [first, count, top])).toEqual([
      [0, 2, 0],
      [2, 3, 120],
      [5, 1, 290]
    ]);
    expect(new Date(layout.days[1].day).getDate()).toBe(29);
    expect(layout.height).toBe(3 * 20 + 6 * 50);
  });

  it('knows what is in sight, and where each run is', () => {
    expect(
      itemsBetween(layout, 100, 180).map(item => (item.kind === 'day' ? `day ${item.day.top}` : item.index))
    ).toEqual([1, 'day 120', 2]);
    expect(itemsBetween(layout, 0, 10_000)).toHaveLength(9);
    expect(itemsBetween(layOut([], 50, 20), 0, 500)).toEqual([]);
    expect([0, 2, 4, 5].map(index => offsetOf(layout, index))).toEqual([20, 140, 240, 310]);
  });

  it('draws as little of 10,000 runs as of 50', () => {
    const many = layOut(
      Array.from({ length: 10_000 }, (_, i) => noon(30) - i * 4000),
      50,
      20
    );
    expect(itemsBetween(many, 300_000, 300_600).length).toBeLessThan(16);
  });
});

it('moves with the keys, and stops at both ends', () => {
  const keys = ['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End', 'x'];
  expect(keys.map(key => keyTarget(key, 5, 20, 10))).toEqual([6, 4, 14, 0, 0, 19, null]);
  expect([
    keyTarget('ArrowUp', 0, 20, 10),
    keyTarget('ArrowDown', 19, 20, 10),
    keyTarget('End', 0, 0, 10)
  ]).toEqual([0, 19, 0]);
});

it('marks words in any case, and takes them for text', () => {
  const hits = (text: string, ...words: string[]): string[] =>
    highlight(text, words).flatMap(piece => (piece.hit ? piece.text : []));
  expect(hits('Which carrier? (CARRIER)', 'carrier', '(')).toEqual(['carrier', '(', 'CARRIER']);
  expect(hits('a.b axb', 'a.b')).toEqual(['a.b']);
  expect(hits('nothing')).toEqual([]);
  expect(
    highlight('Which carrier?', ['carrier'])
      .map(piece => piece.text)
      .join('')
  ).toBe('Which carrier?');
});

describe('the list', () => {
  const lines = (count: number): IRunLine[] =>
    Array.from({ length: count }, (_, i) => ({ id: `r${i}`, prompt: `p${i}` }) as IRunLine);
  const storeOf = (all: { runs: IRunLine[] }) => {
    const asked: number[] = [];
    return {
      asked,
      list: async ({
        search = '',
        limit = 50,
        offset = 0
      }: IRunFilter & { limit?: number; offset?: number }) => {
        asked.push(offset);
        const found = all.runs.filter(run => run.prompt.includes(search));
        return { total: found.length, runs: found.slice(offset, offset + limit) };
      },
      overview: async ({ search = '' }: IRunFilter) => ({
        times: all.runs.filter(run => run.prompt.includes(search)).map(() => 1),
        notebooks: [],
        models: [],
        outcomes: []
      })
    };
  };

  it('reads what comes into sight, each page once', async () => {
    const store = storeOf({ runs: lines(1000) });
    const list = new RunList(store);
    await list.refresh();
    list.show(495, 505);
    list.show(495, 505);
    await vi.waitFor(() => expect(list.state.lines.get(505)?.id).toBe('r505'));
    expect(store.asked).toEqual([0, 450, 500]);
    expect(list.state.lines.get(600)).toBeUndefined();
  });

  it('a fast scroll does not wait for what it has left behind', async () => {
    const store = storeOf({ runs: lines(10_000) });
    const list = new RunList(store);
    await list.refresh();
    for (let first = 0; first < 9900; first += 50) {
      list.show(first, first + 10);
    }
    await vi.waitFor(() => expect(list.state.lines.get(9850)?.id).toBe('r9850'));
    expect(store.asked.length).toBeLessThan(8);
  });

  it('reads everything again when runs have come or gone', async () => {
    const all = { runs: lines(200) };
    const list = new RunList(storeOf(all));
    await list.refresh();
    all.runs = [{ id: 'new', prompt: 'new' } as IRunLine, ...all.runs];
    list.show(60, 70);
    await vi.waitFor(() => expect(list.state.overview?.times).toHaveLength(201));
    await vi.waitFor(() => expect(list.state.lines.get(PAGE_SIZE)?.id).toBe('r49'));
  });

  it('the answer to an older search does not replace that to a newer one', async () => {
    const store = storeOf({ runs: lines(100) });
    let release = (): void => undefined;
    const slow = new Promise<void>(resolve => (release = resolve));
    const list = new RunList({
      ...store,
      list: async query => {
        if (query.search === 'p1') {
          await slow;
        }
        return store.list(query);
      }
    });
    const older = list.setFilter({ search: 'p1' });
    await list.setFilter({ search: 'p99' });
    release();
    await older;
    expect([...list.state.lines.values()].map(run => run.id)).toEqual(['r99']);
    expect(list.state.loading).toBe(false);
  });

  it('says what the server said, keeps what it had, and goes on when asked again', async () => {
    const store = storeOf({ runs: lines(10) });
    let broken = false;
    const list = new RunList({
      ...store,
      overview: query => (broken ? Promise.reject(new Error('damaged')) : store.overview(query))
    });
    await list.refresh();
    broken = true;
    await list.refresh();
    expect([list.state.problem, list.state.lines.size, list.state.loading]).toEqual(['damaged', 10, false]);
    broken = false;
    await list.refresh();
    expect(list.state.problem).toBe('');
  });
});
