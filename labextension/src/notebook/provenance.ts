/** Provenance of a cell: the run that it came from and its state, in the metadata of the cell. */
import type { CellState, ICell } from '../protocol/messages';
import type { ISharedCell } from './sharednotebook';

/** Key of the provenance in a cell's metadata. */
export const META = 'codeagent';

export interface IProvenance {
  run_id: string;
  role: 'code' | 'answer';
  state: CellState;
  code_sha256?: string;
  model?: string;
  sandbox?: string;
  /** Its result is probably wrong: it is not accepted together with others. */
  doubtful?: boolean;
  /** Run of which this is another version, and what was to be different. */
  refines?: string;
  refinement?: string;
  /** While it is pending and there are several. */
  versions?: IVersion[];
}

export interface IVersion {
  run_id: string;
  /** Source of the cell that asked, while this version was displayed. */
  question: string;
}

export function provenance(cell: ISharedCell): IProvenance | null {
  const found = cell.getMetadata(META) as Partial<IProvenance> | undefined;
  return found && typeof found.run_id === 'string' && typeof found.state === 'string'
    ? (found as IProvenance)
    : null;
}

export function originOf(cell: ICell): IProvenance | undefined {
  return cell.metadata[META] as IProvenance | undefined;
}

export function withOrigin(cell: ICell, change: Partial<IProvenance>): ICell {
  const metadata = { ...cell.metadata, [META]: { ...originOf(cell), ...change } };
  return { ...cell, metadata } as unknown as ICell;
}
