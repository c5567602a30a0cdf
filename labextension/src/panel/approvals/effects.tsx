import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IEffects, INamed } from '../../protocol/messages';

/** What code would do to the user's names; null: it could not be determined, and the card states that. */
export function EffectsList(props: {
  trans: TranslationBundle;
  effects: IEffects | null;
  /** Else in the sandbox, on copies. */
  inKernel: boolean;
}): JSX.Element {
  const { trans, effects, inKernel } = props;
  if (effects === null) {
    return (
      <p className="jp-CodeAgent-effectsUnknown" role="note">
        {trans.__(
          'What it would create, overwrite or change could not be determined: the kernel is busy or cannot be reached.'
        )}
      </p>
    );
  }
  const text = (name: string): INamed => ({ name, what: '' });
  const lines: [string, string, INamed[]][] = [
    ['reads', trans.__('Reads'), effects.reads],
    ['creates', trans.__('Would create'), effects.creates],
    ['overwrites', trans.__('Would overwrite'), effects.overwrites],
    ['changes', trans.__('Would change in place'), effects.changes],
    ['deletes', trans.__('Would delete'), effects.deletes],
    ['missing', trans.__('Not in your kernel'), effects.missing.map(text)],
    ['writes', trans.__('Would write or remove files'), effects.writes.map(text)]
  ];
  const displayed = lines.filter(([, , names]) => names.length > 0);
  const acts = displayed.some(([kind]) => kind !== 'reads' && kind !== 'missing');
  return (
    <div className="jp-CodeAgent-effects">
      {!inKernel && (
        <p className="jp-CodeAgent-quiet">{trans.__('In the sandbox, on copies of your variables:')}</p>
      )}
      <dl>
        {displayed.map(([kind, title, names]) => (
          <div key={kind} data-kind={kind}>
            <dt>{title}</dt>
            <dd>
              <Names names={names} />
            </dd>
          </div>
        ))}
        {effects.unclear.length > 0 && (
          <div data-kind="unclear">
            <dt>{trans.__('Cannot be determined from the code')}</dt>
            <dd>{effects.unclear.join('; ')}</dd>
          </div>
        )}
      </dl>
      {!acts && effects.unclear.length === 0 && (
        <p className="jp-CodeAgent-quiet">
          {trans.__('As far as can be determined, it changes none of your variables.')}
        </p>
      )}
    </div>
  );
}

function Names(props: { names: readonly INamed[] }): JSX.Element {
  return (
    <>
      {props.names.map((one, i) => (
        <span key={i} className="jp-CodeAgent-name">
          <code>{one.name}</code>
          {one.what && <span className="jp-CodeAgent-quiet"> {one.what}</span>}
        </span>
      ))}
    </>
  );
}
