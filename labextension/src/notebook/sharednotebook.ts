/** The parts of JupyterLab's shared notebook model that are used here: cells can be changed without a widget. */
import type { ICell } from '../protocol/messages';

/** The part of `ISharedCell` that is used here. */
export interface ISharedCell {
  readonly id: string;
  readonly cell_type: string;
  getSource(): string;
  setSource(source: string): void;
  getMetadata(key: string): unknown;
  setMetadata(key: string, value: unknown): void;
  /** Its text as Yjs has it. */
  readonly ysource: { observe(onChange: (event: unknown, change: { local: boolean }) => void): void };
}

/** The part of `ISharedNotebook` that is used here. */
export interface ISharedNotebook {
  /** Whether it differs from its file. */
  dirty: boolean;
  readonly cells: readonly ISharedCell[];
  /** Emits for changes of this page (`local`) and of other users of the same document. */
  readonly ydoc: {
    on(
      when: 'beforeTransaction' | 'afterTransaction',
      onTransaction: (change: { local: boolean }) => void
    ): void;
  };
  transact(change: () => void, undoable?: boolean): void;
  insertCells(index: number, cells: ICell[]): unknown;
  deleteCell(index: number): void;
  undo(): void;
  getMetadata(key: string): unknown;
  setMetadata(key: string, value: unknown): void;
  deleteMetadata(key: string): void;
}
