/** Where each run and each heading of a day is in the list: fixed heights, so that nothing has to be drawn. */

export interface IDay {
  /** Start of the day in local time; milliseconds since the epoch. */
  day: number;
  /** Index of its first run in the list. */
  first: number;
  count: number;
  /** Of its heading; pixels from the top of the list. */
  top: number;
}

export interface ILayout {
  days: readonly IDay[];
  row: number;
  heading: number;
  height: number;
}

export type Item = { kind: 'day'; day: IDay } | { kind: 'run'; index: number; top: number };

/** `times`: seconds since the epoch in the order of the list. */
export function layOut(times: readonly number[], row: number, heading: number): ILayout {
  const days: { day: number; first: number; count: number; top: number }[] = [];
  let [from, to] = [1, 0];
  times.forEach((time, index) => {
    const at = time * 1000;
    if (at < from || at >= to) {
      [from, to] = dayOf(at);
      const last = days[days.length - 1];
      const top = last ? last.top + heading + last.count * row : 0;
      days.push({ day: from, first: index, count: 0, top });
    }
    days[days.length - 1].count++;
  });
  return { days, row, heading, height: days.length * heading + times.length * row };
}

/** From its first millisecond to that of the next day: days with a change of the clocks have other lengths. */
function dayOf(at: number): [number, number] {
  const day = new Date(at);
  day.setHours(0, 0, 0, 0);
  const next = new Date(day);
  next.setDate(next.getDate() + 1);
  return [day.getTime(), next.getTime()];
}

/** What lies, at least in part, between two heights. */
export function itemsBetween(layout: ILayout, top: number, bottom: number): Item[] {
  const { days, row, heading } = layout;
  const items: Item[] = [];
  for (
    let i = Math.max(
      0,
      lastBefore(days, day => day.top <= top)
    );
    i < days.length;
    i++
  ) {
    const day = days[i];
    if (day.top >= bottom) {
      break;
    }
    if (day.top + heading > top) {
      items.push({ kind: 'day', day });
    }
    const runs = day.top + heading;
    const first = Math.max(0, Math.floor((top - runs) / row));
    const last = Math.min(day.count, Math.ceil((bottom - runs) / row));
    for (let k = first; k < last; k++) {
      items.push({ kind: 'run', index: day.first + k, top: runs + k * row });
    }
  }
  return items;
}

export function offsetOf(layout: ILayout, index: number): number {
  const day =
    layout.days[
      Math.max(
        0,
        lastBefore(layout.days, one => one.first <= index)
      )
    ];
  return day ? day.top + layout.heading + (index - day.first) * layout.row : 0;
}

/** The last of the days for which it holds; it holds for none behind one for which it does not. */
function lastBefore(days: readonly IDay[], holds: (day: IDay) => boolean): number {
  let [low, high] = [-1, days.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    [low, high] = holds(days[middle]) ? [middle, high] : [low, middle];
  }
  return low;
}

/** The index to which a key leads; null for a key that does not move. `fit`: how many runs are in sight. */
export function keyTarget(key: string, active: number, total: number, fit: number): number | null {
  const to: Record<string, number> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + Math.max(1, fit - 1),
    PageUp: active - Math.max(1, fit - 1),
    Home: 0,
    End: total - 1
  };
  return key in to ? Math.min(Math.max(to[key], 0), Math.max(0, total - 1)) : null;
}

/** The text in pieces; `hit` where one of the words is, in any case. */
export function highlight(text: string, words: readonly string[]): { text: string; hit: boolean }[] {
  const wanted = words.filter(word => word !== '').map(word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (wanted.length === 0) {
    return [{ text, hit: false }];
  }
  return text
    .split(new RegExp(`(${wanted.join('|')})`, 'iu'))
    .map((piece, i) => ({ text: piece, hit: i % 2 === 1 }))
    .filter(piece => piece.text !== '');
}
