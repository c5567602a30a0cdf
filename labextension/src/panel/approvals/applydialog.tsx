import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { visibleCode } from '../../common/visiblecode';
import type { IEffects } from '../../protocol/messages';
import type { IRun } from '../../protocol/run';
import { EffectsList } from './effects';

/** The text of the dialog before code runs in the user's kernel. */
export function applyBody(
  trans: TranslationBundle,
  asked: {
    kernel: string;
    code: string;
    effects: IEffects | null;
    /** The run in which this very text ran in the sandbox; null: none is known. */
    run: IRun | null;
    /** It was asked before, of another text or another kernel. */
    isChanged?: boolean;
  }
): React.ReactElement {
  const { kernel, code, effects, run, isChanged = false } = asked;
  const called = run ? calledBy(run) : { databases: '', functions: '' };
  return (
    <div className="jp-CodeAgent-dialog">
      {isChanged && (
        <p role="alert">
          {trans.__(
            'The code or the kernel has changed since you confirmed. Nothing was run. Please check again:'
          )}
        </p>
      )}
      <p>
        {ranSoFar(trans, run !== null, called)}{' '}
        {trans.__(
          'Now it would run in your own kernel (%1), on your real variables and files, with all your permissions.',
          kernel
        )}
      </p>
      {called.databases && (
        <p data-kind="asks">
          {trans.__(
            'It would query %1 again, now from your own kernel, where queries are neither checked nor limited.',
            called.databases
          )}
        </p>
      )}
      {called.functions && (
        <p data-kind="calls">{trans.__('It would call %1 again without asking you.', called.functions)}</p>
      )}
      <EffectsList trans={trans} effects={effects} inKernel />
      <pre tabIndex={0} aria-label={trans.__('Code that would run')}>
        {visibleCode(code)}
      </pre>
    </div>
  );
}

interface ICalled {
  /** Names, with commas between them; empty where none was called. */
  databases: string;
  functions: string;
}

/** What of the user's the program reached from the sandbox, which an end of the sandbox does not undo. */
function calledBy(run: IRun): ICalled {
  const calls = run.steps[run.steps.length - 1]?.result?.calls ?? [];
  const names = (ofDatabases: boolean): string =>
    [
      ...new Set(
        calls
          .filter(call => ((call.kind ?? 'function') !== 'function') === ofDatabases)
          .map(call => call.tool)
      )
    ].join(', ');
  return { databases: names(true), functions: names(false) };
}

function ranSoFar(trans: TranslationBundle, isRecorded: boolean, called: ICalled): string {
  if (!isRecorded) {
    return trans.__('There is no record that this exact code has run in the sandbox.');
  }
  return called.databases || called.functions
    ? trans.__(
        'So far it has run in the sandbox. It reached your kernel only through the queries and calls that the panel lists.'
      )
    : trans.__('So far it has run in the sandbox, on copies.');
}
