/** What is hidden and shared, in the notebook's own metadata. Anyone may have written there. */
import type { ISharing, Shared } from '../protocol/messages';
import { META } from './provenance';
import type { ISharedNotebook } from './sharednotebook';

const VERSION = 1;
/** What the kernel takes for the name of a variable that it shows. */
const NAME = /^\p{L}[\p{L}\p{N}_]*$/u;

interface IKept extends ISharing {
  version: number;
}

/** Names and lists of text are accepted, anything else in the metadata is ignored. */
export function readSharing(notebook: ISharedNotebook | null): ISharing {
  const kept = record(notebook?.getMetadata(META));
  const named = (value: unknown): [string, unknown][] =>
    Object.entries(record(value)).filter(([name]) => NAME.test(name));
  const shared = named(kept.shared).filter(([, how]) => how === 'shared' || how === 'hidden');
  const columns = named(kept.hidden_columns).flatMap(([name, labels]) => {
    const known = Array.isArray(labels) ? labels.filter(label => typeof label === 'string') : [];
    return known.length > 0 ? [[name, known] as const] : [];
  });
  return {
    shared: Object.fromEntries(shared) as Record<string, Shared>,
    hidden_columns: Object.fromEntries(columns)
  };
}

/** Of several notebooks of one kernel: all that one of them hides. `shared` only of names in `agreed`. */
export function joinedSharing(lists: readonly ISharing[], agreed: ReadonlySet<string>): ISharing {
  const shared = new Map<string, Shared>();
  const columns = new Map<string, Set<string>>();
  for (const one of lists) {
    for (const [name, how] of Object.entries(one.shared)) {
      if (how === 'hidden' || (agreed.has(name) && shared.get(name) !== 'hidden')) {
        shared.set(name, how);
      }
    }
    for (const [name, labels] of Object.entries(one.hidden_columns)) {
      columns.set(name, new Set([...(columns.get(name) ?? []), ...labels]));
    }
  }
  return {
    shared: Object.fromEntries(shared),
    hidden_columns: Object.fromEntries([...columns].map(([name, labels]) => [name, [...labels]]))
  };
}

/**
 * Keep the kernel's lists in the notebook, if they differ from what is there.
 *
 * Outside of undo, like the decisions on cells: Ctrl+Z in a cell must not show a hidden column again. What the
 * notebook wants shared and nobody has agreed to stays written: whoever opens it is asked in the panel.
 */
export function writeSharing(
  notebook: ISharedNotebook,
  sharing: ISharing,
  agreed: ReadonlySet<string>
): boolean {
  const known = readSharing(notebook);
  const asked = Object.entries(known.shared).filter(
    ([name, how]) => how === 'shared' && !agreed.has(name) && !Object.keys(sharing.shared).includes(name)
  );
  const wanted = ordered({ ...sharing, shared: { ...Object.fromEntries(asked), ...sharing.shared } });
  if (JSON.stringify(wanted) === JSON.stringify(ordered(known))) {
    return false;
  }
  const others = Object.entries(record(notebook.getMetadata(META))).filter(
    ([key]) => !['version', 'shared', 'hidden_columns'].includes(key)
  );
  notebook.transact(() => {
    if (isEmpty(wanted) && others.length === 0) {
      notebook.deleteMetadata(META);
    } else {
      const kept: IKept = { ...Object.fromEntries(others), version: VERSION, ...wanted };
      notebook.setMetadata(META, kept);
    }
  }, false);
  return true;
}

/** Variables that the notebook wants always copied and nobody in this page has agreed to. */
export function askedToShare(notebook: ISharedNotebook | null, sharing: ISharing): ReadonlySet<string> {
  const wanted = Object.entries(readSharing(notebook).shared).filter(([, how]) => how === 'shared');
  return new Set(wanted.map(([name]) => name).filter(name => !Object.keys(sharing.shared).includes(name)));
}

export function isEmpty(sharing: ISharing): boolean {
  return Object.keys(sharing.shared).length + Object.keys(sharing.hidden_columns).length === 0;
}

function ordered(sharing: ISharing): ISharing {
  const byName = <T>(entries: Record<string, T>): [string, T][] =>
    Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    shared: Object.fromEntries(byName(sharing.shared)),
    hidden_columns: Object.fromEntries(
      byName(sharing.hidden_columns).map(([name, labels]) => [name, [...labels].sort()])
    )
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
