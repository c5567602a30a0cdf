import React from 'react';

import { formatMoment, formatSeconds, formatTokens } from '../../common/format';
import { cellStateLabel } from '../../common/labels';
import type { ICellDecision, IRecordedRun } from '../../history/client';
import { Button, Code, Section } from '../controls/basics';
import { useServices } from '../services';

/** Where, when, by which model and under which rules a run was made, and what was decided since. */
export function RunFacts(props: { run: IRecordedRun }): JSX.Element {
  const { trans, connections, runs } = useServices();
  const { run } = props;
  const { request } = run;
  const known = connections.current?.model.state.runs ?? [];
  const askedFromHere = known.filter(other => other.request.follows === run.id).map(other => other.id);
  const link = (id: string): React.ReactNode => (
    <Button key={id} onClick={() => (runs.view = { kind: 'run', id })}>
      {trans.__('Run %1', id)}
    </Button>
  );
  const server = request.server
    ? request.remote
      ? trans.__('%1, on another machine', request.server)
      : trans.__('%1, on this machine', request.server)
    : '';
  const facts: [string, React.ReactNode][] = [
    [trans.__('Started'), formatMoment(run.started_at)],
    [trans.__('Took'), run.ended_at === null ? '' : formatSeconds(run.ended_at - run.started_at)],
    [trans.__('Model'), request.model],
    [trans.__('Server'), server],
    [trans.__('Tokens'), formatTokens(trans, run.usage)],
    [trans.__('Steps'), trans.__('%1 of at most %2', run.steps.length, request.max_steps)],
    [trans.__('Sandbox'), run.sandbox],
    [trans.__('Approval'), request.approve],
    [trans.__('Notebook'), request.notebook ?? ''],
    [trans.__('Run'), run.id],
    [trans.__('Refines'), request.refines && link(request.refines)],
    [trans.__('Continues from'), request.follows && link(request.follows)],
    [trans.__('Asked from here'), askedFromHere.length > 0 && askedFromHere.map(link)]
  ];
  return (
    <>
      {(run.decisions ?? []).length > 0 && (
        <Section title={trans.__('Decisions')}>
          <ul className="jp-CodeAgent-decided">
            {run.decisions!.map(decision => (
              <li key={decision.at}>
                <Decided decision={decision} />
                {decision.code && decision.code !== run.code && (
                  <Code
                    code={decision.code}
                    label={trans.__('Code that ran in your kernel, as you edited it')}
                  />
                )}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title={trans.__('About this run')}>
        <dl className="jp-CodeAgent-facts">
          {facts
            .filter(([, value]) => value)
            .map(([name, value]) => (
              <React.Fragment key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </React.Fragment>
            ))}
        </dl>
      </Section>
    </>
  );
}

function Decided(props: { decision: ICellDecision }): JSX.Element {
  const { trans } = useServices();
  const { at, what, by } = props.decision;
  const by_whom: Record<string, string> = {
    panel: trans.__('in JupyterLab'),
    magic: trans.__('by a command in the notebook'),
    rerun: trans.__('because its cell was run again'),
    refined: trans.__('because it was refined'),
    policy: trans.__('by the approval policy of this run')
  };
  return (
    <>
      {cellStateLabel(trans, what)} <span className="jp-CodeAgent-quiet">{by_whom[by] ?? by}</span>{' '}
      <span className="jp-CodeAgent-quiet">{formatMoment(at)}</span>
    </>
  );
}
