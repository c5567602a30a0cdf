import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { visibleCode } from '../../common/visiblecode';
import type { IEffects } from '../../protocol/messages';
import { EffectsList } from './effects';

/** The text of the dialog before code runs in the user's kernel. */
export function applyBody(
  trans: TranslationBundle,
  asked: {
    kernel: string;
    code: string;
    effects: IEffects | null;
    /** This text is known to have run in the sandbox. */
    isRecorded: boolean;
    /** It was asked before, of another text or another kernel. */
    isChanged?: boolean;
  }
): React.ReactElement {
  const { kernel, code, effects, isRecorded, isChanged = false } = asked;
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
        {isRecorded
          ? trans.__('So far it ran in the sandbox, on copies.')
          : trans.__('There is no record that this exact code has run in the sandbox.')}{' '}
        {trans.__(
          'Now it would run in your own kernel (%1), on your own variables and files, with all your rights.',
          kernel
        )}
      </p>
      <EffectsList trans={trans} effects={effects} inKernel />
      <pre tabIndex={0} aria-label={trans.__('Code that would run')}>
        {visibleCode(code)}
      </pre>
    </div>
  );
}
