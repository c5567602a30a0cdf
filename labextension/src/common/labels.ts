/** Labels of states, in the user's language. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { DisplayState } from '../history/runcells';
import type { EntryState } from '../panel/run/timelineentries';
import type { ApprovalPolicy, IGrant, Phase, Privacy } from '../protocol/messages';
import type { ContentKind, IModelCall, IResult, RunStatus } from '../protocol/run';

export function runStatusLabel(trans: TranslationBundle, status: RunStatus): string {
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

export function phaseLabel(trans: TranslationBundle, phase: Phase): string {
  switch (phase) {
    case 'context':
      return trans.__('Looking at your variables …');
    case 'loading':
      return trans.__('Loading the model into memory …');
    case 'model':
      return trans.__('The model is writing …');
    case 'waiting':
      return trans.__('Waiting for your decision');
    case 'sandbox':
      return trans.__('Running in the sandbox …');
    case 'inserting':
      return trans.__('Inserting cells …');
    case 'ended':
      return trans.__('Ended');
  }
}

export function cellStateLabel(trans: TranslationBundle, state: DisplayState | 'applied'): string {
  switch (state) {
    case 'pending':
      return trans.__('cells pending');
    case 'missing':
      return trans.__('not in the notebook');
    case 'accepted':
      return trans.__('accepted');
    case 'discarded':
      return trans.__('discarded');
    case 'edited':
      return trans.__('edited');
    case 'applied':
      return trans.__('run in your kernel');
  }
}

export function resultLabel(trans: TranslationBundle, status: IResult['status']): string {
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

export function entryStateLabel(trans: TranslationBundle, state: EntryState): string {
  switch (state) {
    case 'done':
      return trans.__('done');
    case 'now':
      return trans.__('in progress');
    case 'failed':
      return trans.__('failed');
    case 'stopped':
      return trans.__('stopped');
    case 'rejected':
      return trans.__('rejected');
  }
}

export function contentLabel(trans: TranslationBundle, kind: ContentKind): string {
  switch (kind) {
    case 'names':
      return trans.__('names and types of variables');
    case 'statistics':
      return trans.__('statistics and values of variables');
    case 'rows':
      return trans.__('sample rows');
    case 'functions':
      return trans.__('signatures and descriptions of your functions');
    case 'house_rules':
      return trans.__('your house rules');
    case 'earlier_code':
      return trans.__('earlier questions with their code');
    case 'earlier_results':
      return trans.__('results of earlier questions');
    case 'output':
      return trans.__('what the code printed and displayed');
    case 'error':
      return trans.__('the error of the code');
    case 'error_kind':
      return trans.__('type and location of the error, without its message');
    case 'doubt':
      return trans.__('what looked wrong with the result');
    case 'calls':
      return trans.__('calls that the code had made');
    case 'reason':
      return trans.__('your reason for rejecting it');
    case 'edited_code':
      return trans.__('your edited code');
    case 'texts':
      return trans.__('the texts that ask_model was given');
  }
}

export function purposeLabel(trans: TranslationBundle, purpose: IModelCall['purpose']): string {
  switch (purpose) {
    case 'program':
      return trans.__('For a program');
    case 'text':
      return trans.__('By ask_model');
    case 'count':
      return trans.__('To count tokens');
  }
}

/** When the agent waits for a person. */
export function approvalLabel(trans: TranslationBundle, policy: ApprovalPolicy): string {
  switch (policy) {
    case 'ask':
      return trans.__('ask before code runs');
    case 'review':
      return trans.__('run, then review the cells');
    case 'auto':
      return trans.__('run and keep the cells');
  }
}

/** How much of the data the model may see. */
export function privacyLabel(trans: TranslationBundle, privacy: Privacy): string {
  switch (privacy) {
    case 'schema':
      return trans.__('names and types');
    case 'stats':
      return trans.__('statistics');
    case 'samples':
      return trans.__('example rows');
  }
}

/** What a lasting approval is for. */
export function grantLabel(trans: TranslationBundle, grant: IGrant): string {
  switch (grant.kind) {
    case 'run':
      return trans.__('all further code from this notebook in the sandbox');
    case 'mount':
      return trans.__('reading %1 in the sandbox', grant.subject);
    case 'call':
      return trans.__('all calls to %1() in this notebook', grant.subject);
    case 'query':
      return trans.__('all queries to %1 in this notebook', grant.subject);
    case 'server':
      return trans.__('sending prompts to %1', grant.subject);
  }
}
