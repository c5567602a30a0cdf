import React from 'react';

import type { NotebookPanel } from '@jupyterlab/notebook';

import { decisionTexts } from '../../cells/decisiontexts';
import { withKeys } from '../../cells/shortcuts';
import { attempt } from '../../common/attempt';
import type { IPendingRun } from '../../notebook/cellstates';
import { VerdictLine } from '../../verdict/verdictline';
import { Button, Code, Fold, Section } from '../controls/basics';
import { ResultPreview, useRecord } from '../run/resultpreview';
import { useServices } from '../services';

/** Cells of the current notebook that wait for a decision, with the words, the order and the keys of the cells' bars. */
export function Pending(props: { panel: NotebookPanel; runs: readonly IPendingRun[] }): JSX.Element | null {
  const { trans, decisions, keys } = useServices();
  const { panel, runs } = props;
  if (runs.length === 0) {
    return null;
  }
  const step = (label: string, command: 'previous' | 'next', sign: string): JSX.Element => (
    <Button
      label={label}
      title={withKeys(label, keys(command))}
      onClick={() =>
        void attempt(trans, label, () => decisions.revealPending(panel, command === 'next' ? 1 : -1))
      }
    >
      {sign}
    </Button>
  );
  return (
    <Section
      title={trans.__('Pending cells')}
      extra={
        <span className="jp-CodeAgent-buttons">
          {step(trans.__('Previous pending cell'), 'previous', '↑')}
          {step(trans.__('Next pending cell'), 'next', '↓')}
        </span>
      }
    >
      <ul className="jp-CodeAgent-pendingList">
        {runs.map(run => (
          <PendingItem key={run.runId} panel={panel} run={run} />
        ))}
      </ul>
      {runs.length > 1 && (
        <div className="jp-CodeAgent-buttons">
          <Button kind="primary" onClick={() => decisions.acceptAll(panel)}>
            {trans.__('Accept all')}
          </Button>
          <Button
            title={trans.__('Remove these cells; undo brings them back')}
            onClick={() => decisions.discardAll(panel)}
          >
            {trans.__('Discard all')}
          </Button>
        </div>
      )}
      <ReviewKeys />
    </Section>
  );
}

function PendingItem(props: { panel: NotebookPanel; run: IPendingRun }): JSX.Element {
  const { trans, decisions } = useServices();
  const { panel, run } = props;
  const texts = decisionTexts(trans, run.cellIds.length > 1);
  const [first] = run.cellIds;
  const code = run.cellIds[run.roles.indexOf('code')];
  const record = useRecord(run.runId);
  // Of this code and no other: anybody may have written into a notebook to which run a cell belongs.
  const isOfRecord = code !== undefined && record?.code.trim() === run.source.trim();
  return (
    <li>
      <button
        type="button"
        className="jp-CodeAgent-link"
        title={trans.__('Show in the notebook')}
        onClick={() =>
          void attempt(trans, trans.__('Show in the notebook'), () => decisions.reveal(panel, first))
        }
      >
        {isOfRecord ? (
          <span className="jp-CodeAgent-itemQuestion">{record.request.prompt}</span>
        ) : (
          <code>{firstLines(run.source)}</code>
        )}
        <span className="jp-CodeAgent-quiet">
          {run.roles.includes('code') && run.roles.includes('answer')
            ? trans.__('code and text · %1', run.model)
            : run.model}
        </span>
      </button>
      {isOfRecord && (
        <>
          <ResultPreview run={record} />
          <VerdictLine run={record} trans={trans} brief />
          <Fold className="jp-CodeAgent-itemCode" summary={<code>{firstLines(run.source, 1)}</code>}>
            <Code code={run.source} label={trans.__('Code of this result')} copy />
          </Fold>
        </>
      )}
      <div className="jp-CodeAgent-buttons">
        <Button
          kind="primary"
          icon={texts.accept.icon}
          title={texts.accept.title}
          onClick={() => decisions.accept(panel, run.runId)}
        >
          {texts.accept.text}
        </Button>
        {code && (
          <Button
            icon={texts.apply.icon}
            title={texts.apply.title}
            onClick={() => void attempt(trans, texts.apply.text, () => decisions.apply(panel, code))}
          >
            {texts.apply.text}
          </Button>
        )}
        <Button
          icon={texts.edit.icon}
          title={texts.edit.title}
          onClick={() => void attempt(trans, texts.edit.text, () => decisions.edit(panel, first))}
        >
          {texts.edit.text}
        </Button>
        <Button
          icon={texts.discard.icon}
          title={texts.discard.title}
          onClick={() => decisions.discard(panel, [run.runId])}
        >
          {texts.discard.text}
        </Button>
      </div>
    </li>
  );
}

/** One quiet line; what has no key is left out. */
function ReviewKeys(): JSX.Element | null {
  const { trans, keys } = useServices();
  const bound = [
    [keys('next'), trans.__('next')],
    [keys('accept'), trans.__('accept')],
    [keys('discard'), trans.__('discard')]
  ].filter(([key]) => key);
  if (bound.length === 0) {
    return null;
  }
  return (
    <p className="jp-CodeAgent-quiet jp-CodeAgent-reviewKeys">
      <span>{trans.__('In the notebook:')}</span>
      {bound.map(([key, what]) => (
        <span key={what}>
          <kbd className="jp-CodeAgent-key">{key}</kbd> {what}
        </span>
      ))}
    </p>
  );
}

function firstLines(source: string, count = 2): string {
  const lines = source.split('\n').filter(line => line.trim() && !/^(import|from) /.test(line));
  return (lines.length ? lines : source.split('\n')).slice(0, count).join('\n');
}
