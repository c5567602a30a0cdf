import React, { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';

import { formatDay } from '../../common/format';
import type { IRunLine } from '../../history/client';
import type { IRunListState, RunList } from '../../history/runlist';
import { useServices } from '../services';
import { itemsBetween, layOut, keyTarget, offsetOf } from './listlayout';
import { RunLine, useRunName } from './runline';

/** In lines of text, so that a larger font in the settings makes larger rows. */
const ROW_LINES = 5.1;
const HEADING_LINES = 2.2;
/** Drawn above and below what is in sight. */
const MARGIN_PX = 300;

/** All runs that match as one list, of which only what is in sight is drawn. */
export function RunListBox(props: {
  list: RunList;
  state: IRunListState;
  words: readonly string[];
  onOpen: (run: IRunLine) => void;
  /** Put the keyboard into the list: the user came back from a run. */
  focus: boolean;
}): JSX.Element {
  const { trans } = useServices();
  const { list, state, words } = props;
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(list.position.active);
  const sight = useSight(box, list);
  const nameOf = useRunName();

  const times = state.overview?.times ?? NO_TIMES;
  const layout = useMemo(
    () => layOut(times, Math.round(sight.font * ROW_LINES), Math.round(sight.font * HEADING_LINES)),
    [times, sight.font]
  );
  const items = itemsBetween(layout, sight.top - MARGIN_PX, sight.top + sight.height + MARGIN_PX);
  const inSight = items.flatMap(item => (item.kind === 'run' ? [item.index] : []));
  const [first, last] = [inSight[0] ?? 0, inSight[inSight.length - 1] ?? 0];
  useEffect(() => list.show(first, last), [list, first, last]);
  useEffect(() => {
    if (props.focus) {
      box.current?.focus({ preventScroll: true });
    }
  }, [props.focus]);
  // Another filter begins at the top.
  useLayoutEffect(() => {
    setActive(list.position.active);
    box.current!.scrollTop = list.position.top;
  }, [list, state.filter]);

  const go = (index: number): void => {
    setActive(index);
    list.position.active = index;
    const top = offsetOf(layout, index);
    const node = box.current!;
    if (top - layout.heading < node.scrollTop) {
      node.scrollTop = top - layout.heading;
    } else if (top + layout.row > node.scrollTop + node.clientHeight) {
      node.scrollTop = top + layout.row - node.clientHeight;
    }
  };
  const open = (index: number): void => {
    const run = state.lines.get(index);
    if (run) {
      list.position.active = index;
      props.onOpen(run);
    }
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const to = keyTarget(event.key, active, times.length, Math.floor(sight.height / layout.row));
    if (to !== null) {
      event.preventDefault();
      go(to);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      open(active);
    }
  };
  return (
    <div
      ref={box}
      role="listbox"
      tabIndex={0}
      className="jp-CodeAgent-runs"
      aria-label={trans.__('Runs, newest first')}
      aria-busy={state.loading}
      aria-activedescendant={inSight.includes(active) ? optionId(active) : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" style={{ height: layout.height }}>
        {items.map(item =>
          item.kind === 'day' ? (
            <div
              key={`day ${item.day.day}`}
              role="presentation"
              className="jp-CodeAgent-day"
              style={{ top: item.day.top, height: layout.heading }}
            >
              {formatDay(trans, item.day.day)}
            </div>
          ) : (
            <Option
              key={item.index}
              index={item.index}
              total={times.length}
              top={item.top}
              height={layout.row}
              run={state.lines.get(item.index)}
              active={item.index === active}
              words={words}
              nameOf={nameOf}
              onOpen={() => open(item.index)}
            />
          )
        )}
      </div>
    </div>
  );
}

const NO_TIMES: readonly number[] = [];

function optionId(index: number): string {
  return `jp-CodeAgent-run-${index}`;
}

function Option(props: {
  index: number;
  total: number;
  top: number;
  height: number;
  run: IRunLine | undefined;
  active: boolean;
  words: readonly string[];
  nameOf: (run: IRunLine) => string;
  onOpen: () => void;
}): JSX.Element {
  const { trans } = useServices();
  const { run } = props;
  return (
    <div
      role="option"
      id={optionId(props.index)}
      className="jp-CodeAgent-runLine"
      aria-selected={props.active}
      aria-posinset={props.index + 1}
      aria-setsize={props.total}
      aria-label={run ? props.nameOf(run) : trans.__('Run %1, not loaded yet', props.index + 1)}
      style={{ top: props.top, height: props.height }}
      onClick={props.onOpen}
    >
      {run ? <RunLine run={run} words={props.words} /> : <div className="jp-CodeAgent-runEmpty" />}
    </div>
  );
}

interface ISight {
  top: number;
  height: number;
  /** Of the interface's font; pixels. */
  font: number;
}

/** Which part of the list is in sight. */
function useSight(box: React.RefObject<HTMLDivElement>, list: RunList): ISight {
  const [sight, setSight] = useState<ISight>({ top: list.position.top, height: 600, font: 13 });
  useLayoutEffect(() => {
    const node = box.current!;
    const measure = (): void => {
      list.position.top = node.scrollTop;
      const font = parseFloat(getComputedStyle(node).fontSize) || 13;
      // Never more than a screen, whatever the style sheets of others do to the panel.
      const height = Math.min(node.clientHeight || 600, window.innerHeight);
      setSight({ top: node.scrollTop, height, font });
    };
    node.scrollTop = list.position.top;
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(node);
    node.addEventListener('scroll', measure, { passive: true });
    return () => {
      resized.disconnect();
      node.removeEventListener('scroll', measure);
    };
  }, [box, list]);
  return sight;
}
