/** The words for states, in the user's language. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { CellState, Phase } from './protocol';
import type { IResult, RunStatus } from './record';

export function runStatusWord(trans: TranslationBundle, status: RunStatus): string {
  switch (status) {
    case 'running':
      return trans.__('running');
    case 'waiting':
      return trans.__('waiting for you');
    case 'ok':
      return trans.__('done');
    case 'failed':
      return trans.__('failed');
    case 'stopped':
      return trans.__('stopped');
    case 'rejected':
      return trans.__('rejected');
    case 'interrupted':
      return trans.__('interrupted');
  }
}

export function phaseWord(trans: TranslationBundle, phase: Phase): string {
  switch (phase) {
    case 'context':
      return trans.__('Looking at your variables …');
    case 'model':
      return trans.__('The model is writing …');
    case 'waiting':
      return trans.__('Waiting for your decision');
    case 'sandbox':
      return trans.__('Running in the sandbox …');
    case 'answer':
      return trans.__('Writing the answer …');
    case 'inserting':
      return trans.__('Inserting cells …');
    case 'ended':
      return trans.__('Ended');
  }
}

export function cellStateWord(trans: TranslationBundle, state: CellState): string {
  switch (state) {
    case 'pending':
      return trans.__('cells pending');
    case 'accepted':
      return trans.__('accepted');
    case 'discarded':
      return trans.__('discarded');
    case 'edited':
      return trans.__('edited');
  }
}

export function resultWord(trans: TranslationBundle, status: IResult['status']): string {
  switch (status) {
    case 'ok':
      return trans.__('ran');
    case 'error':
      return trans.__('error');
    case 'timeout':
      return trans.__('timed out');
    case 'killed':
      return trans.__('killed');
    case 'interrupted':
      return trans.__('interrupted');
  }
}
