/** What happens to a notebook's cells: found, inserted, marked, discarded. Works on the model, needs no widget. */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';

import { sha256 } from '../common/sha256';
import type { CellState, ICell, IInsertMessage } from '../protocol/messages';
import type { IVersion } from './versions';
import { versionIndex, versionsOf, withNextVersion } from './versions';

/** Key of the provenance in a cell's metadata. */
export const META = 'codeagent';

const ENGLISH = nullTranslator.load('');

export interface IProvenance {
  run_id: string;
  role: 'code' | 'answer';
  state: CellState;
  code_sha256?: string;
  model?: string;
  sandbox?: string;
  /** Run of which this is another version, and what was to be different. */
  refines?: string;
  refinement?: string;
  /** While it is pending and there are several. */
  versions?: IVersion[];
}

/** The part of `ISharedCell` that is used here. */
export interface ISharedCell {
  readonly id: string;
  readonly cell_type: string;
  getSource(): string;
  setSource(source: string): void;
  getMetadata(key: string): unknown;
  setMetadata(key: string, value: IProvenance): void;
  /** Its text as Yjs has it. */
  readonly ysource: { observe(told: (event: unknown, change: { local: boolean }) => void): void };
}

/** The part of `ISharedNotebook` that is used here. */
export interface ISharedNotebook {
  /** Whether it differs from its file. */
  dirty: boolean;
  readonly cells: readonly ISharedCell[];
  /** Tells of what this page changes (`local`) and of what others in the same document do. */
  readonly ydoc: {
    on(when: 'beforeTransaction' | 'afterTransaction', told: (change: { local: boolean }) => void): void;
  };
  transact(change: () => void, undoable?: boolean): void;
  insertCells(index: number, cells: ICell[]): unknown;
  deleteCell(index: number): void;
  undo(): void;
  getMetadata(key: string): unknown;
  setMetadata(key: string, value: unknown): void;
  deleteMetadata(key: string): void;
}

interface IUndoManager {
  stopCapturing(): void;
  readonly undoStack: readonly unknown[];
}

export function provenance(cell: ISharedCell): IProvenance | null {
  const found = cell.getMetadata(META) as Partial<IProvenance> | undefined;
  return found && typeof found.run_id === 'string' && typeof found.state === 'string'
    ? (found as IProvenance)
    : null;
}

/** The state as written; a pending code cell whose text has changed since its insertion counts as edited. */
export function cellState(cell: ISharedCell): CellState | null {
  const found = provenance(cell);
  if (found?.state !== 'pending' || found.role !== 'code' || !found.code_sha256) {
    return found?.state ?? null;
  }
  return sha256(cell.getSource()) === found.code_sha256 ? 'pending' : 'edited';
}

export function isPending(cell: ISharedCell, runId?: string): boolean {
  return (runId === undefined || provenance(cell)?.run_id === runId) && cellState(cell) === 'pending';
}

export interface IPendingRun {
  runId: string;
  model: string;
  /** Ids of its pending cells, from top to bottom. */
  cellIds: string[];
  /** Text of the first of them. */
  source: string;
  roles: IProvenance['role'][];
}

/** The runs that wait for a decision, in the order of the notebook. */
export function pendingRuns(notebook: ISharedNotebook): IPendingRun[] {
  const runs = new Map<string, IPendingRun>();
  for (const cell of notebook.cells) {
    const found = provenance(cell);
    if (found && isPending(cell)) {
      const run = runs.get(found.run_id) ?? {
        runId: found.run_id,
        model: found.model ?? '',
        cellIds: [],
        source: cell.getSource(),
        roles: []
      };
      run.cellIds.push(cell.id);
      run.roles.push(found.role);
      runs.set(found.run_id, run);
    }
  }
  return [...runs.values()];
}

/**
 * Insert the cells of a run below the anchor, and take out what is still pending of the earlier runs of the same
 * cell, as one undo step. Cells that are there already stay where and what they are. Nothing is executed, and nothing
 * done where the notebook has cells of a run in `unless` that were kept. The ids of the run's cells.
 */
export function insertCells(
  notebook: ISharedNotebook,
  request: Pick<IInsertMessage, 'anchor' | 'replace' | 'cells'> & Partial<Pick<IInsertMessage, 'unless'>>
): string[] {
  const standsFor = (cell: ISharedCell): boolean =>
    request.unless?.includes(provenance(cell)?.run_id ?? '') === true && !isPending(cell);
  if (notebook.cells.some(standsFor)) {
    return [];
  }
  const ids = request.cells.map(cell => String(cell.id));
  const present = new Set(notebook.cells.map(cell => cell.id));
  const fresh = request.cells.filter(cell => !present.has(String(cell.id)));
  if (fresh.length > 0) {
    const replaced = indicesWhere(notebook, cell => request.replace.some(runId => isPending(cell, runId)));
    const refined = refinedBy(notebook, fresh[0], request.replace);
    if (refined === null) {
      replaceCells(notebook, insertionIndex(notebook, request.anchor, ids), fresh, replaced);
    } else {
      const asked = notebook.cells.find(cell => cell.id === request.anchor);
      const versions = withNextVersion(refined, asked?.getSource() ?? '', originOf(fresh[0])!);
      const before = replaced.find(index => provenance(notebook.cells[index])!.run_id === refined.run_id);
      const at = before ?? insertionIndex(notebook, request.anchor, ids);
      replaceVersion(notebook, at, fresh, { versions, replaced, asked });
    }
  }
  return ids;
}

/** The version of which this cell is the next; null if there is none, or the user has kept that one meanwhile. */
function refinedBy(
  notebook: ISharedNotebook,
  cell: ICell,
  replace: readonly string[]
): Pick<IProvenance, 'run_id' | 'versions'> | null {
  const run_id = originOf(cell)?.refines;
  if (run_id === undefined || !replace.includes(run_id)) {
    return null; // also where an old run is inserted again, anywhere
  }
  const there = notebook.cells.filter(one => provenance(one)?.run_id === run_id);
  return there.some(one => !isPending(one)) ? null : there.length > 0 ? provenance(there[0]) : { run_id };
}

/** Put the cells of another version in the place of the one that is pending, as one undo step. Nothing is executed. */
export function switchVersion(notebook: ISharedNotebook, runId: string, cells: ICell[]): void {
  const replaced = indicesWhere(notebook, cell => isPending(cell, runId));
  const [at] = replaced;
  if (at !== undefined) {
    const versions = versionsOf(provenance(notebook.cells[at])!);
    const pending = cells.map(cell => withOrigin(cell, { state: 'pending' }));
    replaceVersion(notebook, at, pending, { versions, replaced, asked: agentCellOf(notebook, at) });
  }
}

/** The cell that asked for a pending one, as far as its text is still what was asked. */
export function agentCellOf(notebook: ISharedNotebook, index: number): ISharedCell | undefined {
  const shown = provenance(notebook.cells[index])!;
  const source = versionsOf(shown)[versionIndex(shown)]?.question;
  return notebook.cells
    .slice(0, index)
    .reverse()
    .find(cell => source && cell.getSource() === source);
}

/** With what the question was then, where it may be changed. */
function replaceVersion(
  notebook: ISharedNotebook,
  at: number,
  cells: ICell[],
  other: { versions: IVersion[]; replaced: number[]; asked?: ISharedCell }
): void {
  const { versions, replaced, asked } = other;
  const question = versions.find(version => version.run_id === originOf(cells[0])?.run_id)?.question;
  const isOther = asked && question && asked.getSource() !== question;
  const marked = cells.map(cell => withOrigin(cell, { versions }));
  replaceCells(notebook, at, marked, replaced, () => {
    if (isOther && asked.getMetadata('editable') !== false) {
      asked.setSource(question);
    }
  });
}

/** As one undo step. */
function replaceCells(
  notebook: ISharedNotebook,
  at: number,
  cells: ICell[],
  replaced: readonly number[],
  also: () => void = () => undefined
): void {
  oneUndoStep(notebook, () => {
    also();
    notebook.insertCells(at, cells);
    deleteAt(
      notebook,
      replaced.map(index => (index < at ? index : index + cells.length))
    );
  });
}

function withOrigin(cell: ICell, change: Partial<IProvenance>): ICell {
  const metadata = { ...cell.metadata, [META]: { ...originOf(cell), ...change } };
  return { ...cell, metadata } as unknown as ICell;
}

function originOf(cell: ICell): IProvenance | undefined {
  return cell.metadata[META] as IProvenance | undefined;
}

/** A code cell of the user's own: trusted, as JupyterLab's new cells are; one that is not costs the notebook its trust. */
export function newCodeCell(source: string): ICell {
  const metadata = { trusted: true };
  return { id: UUID.uuid4(), cell_type: 'code', source, metadata, outputs: [], execution_count: null };
}

/** Insert cells of the user's own: one step to undo, not merged with what was typed before or after. */
export function insertAsUndoStep(notebook: ISharedNotebook, index: number, cells: ICell[]): void {
  oneUndoStep(notebook, () => void notebook.insertCells(index, cells));
}

/** Below the last cell that is there already, else below the anchor, else the end. */
function insertionIndex(notebook: ISharedNotebook, anchor: string | null, ids: string[]): number {
  const position = (wanted: string[]): number =>
    notebook.cells.reduce((last, cell, i) => (wanted.includes(cell.id) ? i + 1 : last), -1);
  const below = [position(ids), position(anchor === null ? [] : [anchor])].find(index => index >= 0);
  return below ?? notebook.cells.length;
}

/** Set the state of a run's pending cells; the ids of those that changed. Not an undo step: it is a decision. */
export function setRunState(notebook: ISharedNotebook, runId: string, state: CellState): string[] {
  return setCellStates(
    notebook.cells.filter(cell => isPending(cell, runId)),
    state
  );
}

export function setCellStates(cells: readonly ISharedCell[], state: CellState): string[] {
  for (const cell of cells) {
    const found = provenance(cell);
    if (found) {
      // What was decided about has no other versions any more.
      const { versions, ...rest } = found;
      cell.setMetadata(META, { ...rest, ...(state === 'pending' && versions ? { versions } : {}), state });
    }
  }
  return cells.map(cell => cell.id);
}

/** Remove the pending cells of these runs as one undo step; the ids of those that went. */
export function discardRuns(notebook: ISharedNotebook, runIds: readonly string[]): string[] {
  return discardCells(
    notebook,
    notebook.cells.filter(cell => runIds.some(runId => isPending(cell, runId))).map(cell => cell.id)
  );
}

/** Remove those of these cells that are pending as one undo step; the ids of those that went. */
export function discardCells(notebook: ISharedNotebook, cellIds: readonly string[]): string[] {
  const gone = indicesWhere(notebook, cell => cellIds.includes(cell.id) && isPending(cell));
  const ids = gone.map(index => notebook.cells[index].id);
  const all = gone.length === notebook.cells.length;
  if (gone.length > 0) {
    oneUndoStep(notebook, () => {
      deleteAt(notebook, gone);
      if (all) {
        notebook.insertCells(0, [newCodeCell('')]); // a notebook without any cell cannot be used
      }
    });
  }
  return ids;
}

function indicesWhere(notebook: ISharedNotebook, wanted: (cell: ISharedCell) => boolean): number[] {
  return notebook.cells.flatMap((cell, index) => (wanted(cell) ? [index] : []));
}

/** From the last to the first, so that those still to come keep their place. */
function deleteAt(notebook: ISharedNotebook, indices: readonly number[]): void {
  [...indices].reverse().forEach(index => notebook.deleteCell(index));
}

/** In `change`, `notebook.cells` is still what it was before: it follows when the transaction is over. */
function oneUndoStep(notebook: ISharedNotebook, change: () => void): void {
  // Yjs merges changes that are less than 500 ms apart into one step: close its window before and after.
  undoManager(notebook)?.stopCapturing();
  notebook.transact(change);
  undoManager(notebook)?.stopCapturing();
}

/** Not in the interface, but in every notebook model there is. */
function undoManager(notebook: ISharedNotebook): IUndoManager | undefined {
  return (notebook as { undoManager?: IUndoManager }).undoManager;
}

/** Remembers the last insertion of a notebook, to undo just that. */
export class LastInsertion {
  remember(notebook: ISharedNotebook, cellIds: readonly string[]): void {
    this._seen.set(notebook, { cellIds, step: topOfUndo(notebook) });
  }

  /** Undo it as a step if nothing was changed since; else take out the cells that are still pending. */
  undo(notebook: ISharedNotebook): string[] {
    const last = this._seen.get(notebook);
    this._seen.delete(notebook);
    const runIds = new Set(
      notebook.cells
        .filter(cell => last?.cellIds.includes(cell.id))
        .flatMap(cell => provenance(cell)?.run_id ?? [])
    );
    if (!last || runIds.size === 0) {
      return [];
    }
    if (last.step !== undefined && last.step === topOfUndo(notebook)) {
      notebook.undo();
    } else {
      discardRuns(notebook, [...runIds]);
    }
    return [...runIds];
  }

  private _seen = new WeakMap<ISharedNotebook, { cellIds: readonly string[]; step: unknown }>();
}

function topOfUndo(notebook: ISharedNotebook): unknown {
  const stack = undoManager(notebook)?.undoStack;
  return stack?.[stack.length - 1];
}

// --- which notebook

export function sharedNotebook(panel: NotebookPanel | null): ISharedNotebook | null {
  return (panel?.content.model?.sharedModel as ISharedNotebook | undefined) ?? null;
}

/** The open notebooks of a kernel, one panel per document: the views of a split notebook share their context. */
export function panelsOfKernel(tracker: INotebookTracker, kernelId: string): NotebookPanel[] {
  const found = new Map<unknown, NotebookPanel>();
  tracker.forEach(panel => {
    if (panel.sessionContext.session?.kernel?.id === kernelId && !found.has(panel.context)) {
      found.set(panel.context, panel);
    }
  });
  return [...found.values()];
}

/**
 * The notebook of a kernel that holds one of these cells; if none does, the kernel's only notebook.
 *
 * Throws an `Error` that says why there is none that may be written to.
 */
export function findNotebook(tracker: INotebookTracker, kernelId: string, cellIds: string[]): NotebookPanel {
  const panels = panelsOfKernel(tracker, kernelId).filter(panel => panel.content.model);
  const holds = (panel: NotebookPanel): boolean =>
    sharedNotebook(panel)?.cells.some(cell => cellIds.includes(cell.id)) ?? false;
  const panel = panels.find(holds) ?? (panels.length === 1 ? panels[0] : undefined);
  if (!panel) {
    throw new Error(
      panels.length === 0
        ? 'no notebook of this kernel is open in this page'
        : `${panels.length} notebooks share this kernel and none of them has the %%agent cell`
    );
  }
  requireWritable(panel);
  return panel;
}

export function isWritable(panel: NotebookPanel): boolean {
  return !panel.content.model?.readOnly && panel.context.contentsModel?.writable !== false;
}

/** Throws what `whyReadOnly` says. The kernel, which is told it too, is told it in English. */
export function requireWritable(panel: NotebookPanel, trans: TranslationBundle = ENGLISH): void {
  const why = whyReadOnly(panel, trans);
  if (why) {
    throw new Error(why);
  }
}

/** Empty if the notebook may be changed. */
export function whyReadOnly(panel: NotebookPanel, trans: TranslationBundle): string {
  return isWritable(panel) ? '' : trans.__('the notebook %1 is read-only', panel.context.path);
}

/** As the server knows it, without the drive of real-time collaboration in front; empty without a notebook. */
export function localPath(panel: NotebookPanel | null): string {
  return panel ? (panel.context.localPath ?? panel.context.path) : '';
}
