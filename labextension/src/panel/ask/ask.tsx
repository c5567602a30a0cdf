import type { ICodeCellModel } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import React, { useEffect, useLayoutEffect, useRef, useState } from 'react';

import type { IAgentState } from '../../comm/agentstate';
import { sharedNotebook } from '../../notebook/panels';
import type { IAskOptions, AskBlocker } from '../../prompts/askcell';
import {
  agentCell,
  insertAndRun,
  isBusy,
  insertionPoint,
  LOAD_MAGIC,
  findBlocker
} from '../../prompts/askcell';
import { escapeExpressions } from '../../prompts/magicline';
import { Button } from '../controls/basics';
import { useRemembered, useServices, useSignal } from '../services';
import { AskOptions } from './askoptions';
import { askedName, draftName } from './drafts';

const isMac = /mac/i.test(navigator.platform);

/** Where a question is typed: it becomes a `%%agent` cell below the active one, and runs. */
export function Ask(): JSX.Element {
  const { tracker, connections } = useServices();
  useSignal(connections.changed);
  const panel = tracker.currentWidget;
  const connection = connections.current;
  useSignal(connection?.model.changed);
  useSignal(connection?.kernel.statusChanged);
  useSignal(panel?.context.pathChanged);
  // By the notebook, not by its name: a rename leaves the caret and the chosen options where they are.
  return <Composer key={panel?.id} panel={panel} state={connection?.model.state ?? null} />;
}

function Composer(props: { panel: NotebookPanel | null; state: IAgentState | null }): JSX.Element {
  const { trans, memory } = useServices();
  const { panel, state } = props;
  const [options, setOptions] = useState<IAskOptions>({});
  const [problem, setProblem] = useState('');
  const [isLoading, setLoading] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = draftName(panel?.context.path ?? '');
  const prompt = useRemembered(draft);
  const blocker = findBlocker(panel, state);
  const isReady = blocker === null && prompt.trim() !== '';
  useFittingHeight(field, prompt);

  const run = (source: string): Promise<unknown> => {
    setProblem('');
    return insertAndRun(panel!, source).catch((error: Error) => setProblem(error.message));
  };
  const load = (): void => {
    setLoading(true);
    void run(LOAD_MAGIC).then(() => setLoading(false));
  };
  const ask = (): void => {
    if (isReady) {
      memory.set(draft, '');
      memory.set(askedName(panel!.context.path), prompt);
      void run(agentCell(prompt, options));
    }
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      ask();
    } else if (event.key === 'ArrowUp' && prompt === '' && panel) {
      event.preventDefault();
      memory.set(draft, lastPrompt(panel, state, memory.get(askedName(panel.context.path))));
    }
  };
  return (
    <form
      className="jp-CodeAgent-ask"
      aria-label={trans.__('Ask')}
      onSubmit={event => {
        event.preventDefault();
        ask();
      }}
    >
      {problem && (
        <p role="alert" className="jp-CodeAgent-problem">
          {problem}
        </p>
      )}
      <div className="jp-CodeAgent-askBox">
        <textarea
          ref={field}
          rows={1}
          aria-label={trans.__('Your question')}
          aria-describedby="jp-CodeAgent-askLanding jp-CodeAgent-askNote"
          placeholder={
            isMac
              ? trans.__('Ask about your data … (⌘ Enter to run)')
              : trans.__('Ask about your data … (Ctrl Enter to run)')
          }
          value={prompt}
          disabled={panel === null}
          onChange={event => memory.set(draft, event.target.value)}
          onKeyDown={onKeyDown}
        />
        {state && <AskOptions state={state} options={options} onChange={setOptions} />}
      </div>
      {panel && blocker === null && <InsertionPoint panel={panel} />}
      <div className="jp-CodeAgent-line">
        <span id="jp-CodeAgent-askNote" role="status" className="jp-CodeAgent-quiet">
          <Note blocker={blocker} isWaiting={panel !== null && state !== null && isBusy(panel, state)} />
        </span>
        {blocker === 'absent' ? (
          <Button kind="primary" title={LOAD_MAGIC} disabled={isLoading} onClick={load}>
            {trans.__('Load the agent')}
          </Button>
        ) : (
          <Button
            kind="primary"
            title={trans.__('Insert the question as a cell below the active one, and run it')}
            disabled={!isReady}
            onClick={ask}
          >
            {trans.__('Ask')}
          </Button>
        )}
      </div>
    </form>
  );
}

/** Below which cell the question will be inserted. */
function InsertionPoint(props: { panel: NotebookPanel }): JSX.Element | null {
  const { trans, tracker, decorations } = useServices();
  useSignal(tracker.activeCellChanged);
  useSignal(decorations.changed);
  const { content } = props.panel;
  const notebook = sharedNotebook(props.panel);
  const below = notebook && insertionPoint(notebook, content.activeCellIndex);
  const model = content.widgets.find(cell => cell.model.id === below?.cellId)?.model;
  useSignal(model?.stateChanged); // its number comes when it has run
  if (!notebook) {
    return null;
  }
  const count = (model as ICodeCellModel | undefined)?.executionCount ?? null;
  const cell = below?.isCode ? `[${count ?? ' '}]` : trans.__('text');
  return (
    <div id="jp-CodeAgent-askLanding" className="jp-CodeAgent-quiet jp-CodeAgent-landing" title={below?.line}>
      {below === null
        ? trans.__('at the top of the notebook')
        : below.hasResults
          ? trans.__('below cell %1 and its result: %2', cell, below.line)
          : trans.__('below cell %1: %2', cell, below.line)}
    </div>
  );
}

function Note(props: { blocker: AskBlocker | null; isWaiting: boolean }): JSX.Element | null {
  const { trans } = useServices();
  switch (props.blocker) {
    case null:
      return props.isWaiting ? (
        <>{trans.__('The kernel is busy: your question will run when it is free.')}</>
      ) : null;
    case 'no-notebook':
      return <>{trans.__('Open a notebook to ask.')}</>;
    case 'read-only':
      return <>{trans.__('This notebook is read-only: no cell can be inserted.')}</>;
    case 'no-kernel':
      return <>{trans.__('This notebook has no kernel: choose one to ask.')}</>;
    case 'dead':
      return <>{trans.__('The kernel has died: restart it to ask.')}</>;
    case 'connecting':
      return <>{trans.__('Connecting to the kernel …')}</>;
    case 'absent':
      return <>{trans.__('The agent is not loaded in this notebook.')}</>;
    case 'failed':
      return <>{trans.__('The kernel cannot be reached; see above.')}</>;
  }
}

/** As high as its text; the style sheet sets from when on it scrolls. */
function useFittingHeight(field: React.RefObject<HTMLTextAreaElement>, text: string): void {
  useLayoutEffect(() => {
    const area = field.current;
    if (area) {
      area.style.height = 'auto';
      area.style.height = `${area.scrollHeight}px`;
    }
  }, [field, text]);
  // In a hidden panel nothing has a height: measured again when it is opened or resized.
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      const area = field.current;
      if (area && area.scrollHeight > area.clientHeight) {
        area.style.height = `${area.scrollHeight}px`;
      }
    });
    observer.observe(field.current!);
    return () => observer.disconnect();
  }, [field]);
}

/** What was asked last in this notebook: from here, else by any cell of it. */
function lastPrompt(panel: NotebookPanel, state: IAgentState | null, asked: string): string {
  const own = state?.runs.filter(run => run.request.notebook === panel.context.path) ?? [];
  return asked || escapeExpressions(own[own.length - 1]?.request.prompt ?? '');
}
