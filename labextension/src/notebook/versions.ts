/**
 * Versions of one result: *Refine* replaces the pending one by another, and adds what was asked to the
 * question above. The list of them is in the metadata of the pending cells; their cells are in the history. Pure.
 */
import { isAgentCell } from '../prompts/magicline';
import { arrayOf, shape, string } from '../protocol/checks';
import type { IProvenance, IVersion } from './provenance';

type Versioned = Pick<IProvenance, 'run_id' | 'versions'>;

const isVersions = arrayOf(shape({ run_id: string, question: string }));

/** The versions of a pending cell, oldest first; its own run alone if it was never refined. */
export function versionsOf(cell: Versioned, question = ''): IVersion[] {
  const { run_id } = cell;
  const versions = cell.versions ?? [];
  // Metadata may come from anywhere.
  const known = isVersions(versions) && versions.some(version => version.run_id === run_id);
  return known ? versions : [{ run_id, question }];
}

/** The index of a cell's run among its versions, from 0. */
export function versionIndex(cell: IProvenance): number {
  return versionsOf(cell).findIndex(version => version.run_id === cell.run_id);
}

/** With the version that `next` brings. */
export function withNextVersion(before: Versioned, question: string, next: IProvenance): IVersion[] {
  const refined = withRefinement(question, next.refinement ?? '');
  return [...versionsOf(before, question), { run_id: next.run_id, question: refined }];
}

/** The question as the kernel was asked it; a cell that is no `%%agent` cell cannot hold more than it does. */
function withRefinement(question: string, refinement: string): string {
  return isAgentCell(question) && refinement ? `${question.trimEnd()}\n${refinement}` : question;
}
