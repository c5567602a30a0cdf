import React, { useEffect, useState } from 'react';

import { formatShort, formatTime } from '../../common/format';
import type { IRunLine } from '../../history/client';
import type { IRun } from '../../protocol/run';
import { Button, Section } from '../controls/basics';
import { OutcomeLabel, useOutcome } from '../run/outcome';
import { useServices } from '../services';

const AT_MOST = 20;
/** The search is part of an address, whose length servers limit. */
const SEARCHED_CHARS = 300;

/** Other runs of the same prompt, each with a button that sets it beside this one. */
export function OtherAnswers(props: {
  run: IRun;
  version: number;
  onCompare: (runId: string) => void;
}): JSX.Element | null {
  const { trans, history } = useServices();
  const { id, request } = props.run;
  const [others, setOthers] = useState<readonly IRunLine[]>([]);
  useEffect(() => {
    let wanted = true;
    history.list({ search: request.prompt.slice(0, SEARCHED_CHARS), limit: 5 * AT_MOST }).then(
      page => {
        const same = page.runs.filter(line => line.id !== id && line.prompt === request.prompt);
        return wanted && setOthers(same.slice(0, AT_MOST));
      },
      (error: Error) =>
        console.warn('jupyter-codeagent: runs of the same prompt were not read:', error.message)
    );
    return () => {
      wanted = false;
    };
  }, [history, id, request.prompt, props.version]);
  const outcomeOf = useOutcome();
  if (others.length === 0) {
    return null;
  }
  return (
    <Section title={trans.__('Other answers to this prompt')}>
      <ul className="jp-CodeAgent-others">
        {others.map(line => (
          <li key={line.id}>
            <span className="jp-CodeAgent-otherModel">{line.model}</span>
            <OutcomeLabel outcome={outcomeOf(line)} />
            <span className="jp-CodeAgent-quiet">
              {formatTime(line.started_at)}
              {' · '}
              {trans.__('%1 tokens', formatShort(line.prompt_tokens + line.completion_tokens))}
            </span>
            <Button
              label={trans.__('Compare with the answer of %1, %2', line.model, formatTime(line.started_at))}
              onClick={() => props.onCompare(line.id)}
            >
              {trans.__('Compare')}
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}
