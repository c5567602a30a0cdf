import type { TranslationBundle } from '@jupyterlab/translation';
import React, { useState } from 'react';

import type { IExamples, IOperation } from '../protocol/run';

/** What the code did to rows and columns, in its own order; each step leads to its line. */
export function Operations(props: {
  operations: readonly IOperation[];
  trans: TranslationBundle;
  onLine?: (line: number) => void;
  /** Line of the code where the cursor is, from 1: its steps are marked. */
  line?: number;
}): JSX.Element {
  const { trans } = props;
  return (
    <ol className="jp-CodeAgent-operations" aria-label={trans.__('Steps of the code')}>
      {props.operations.map((operation, index) => (
        <Operation
          key={index}
          operation={operation}
          trans={trans}
          onLine={props.onLine}
          current={operation.line === props.line}
        />
      ))}
    </ol>
  );
}

function Operation(props: {
  operation: IOperation;
  trans: TranslationBundle;
  onLine?: (line: number) => void;
  current: boolean;
}): JSX.Element {
  const { operation, trans } = props;
  const [open, setOpen] = useState(false);
  const { examples } = operation;
  const line = trans.__('line %1', operation.line);
  return (
    <li aria-current={props.current || undefined}>
      {props.onLine ? (
        <button
          type="button"
          className="jp-CodeAgent-link jp-CodeAgent-figure"
          title={trans.__('Show this line of the code')}
          onClick={() => props.onLine!(operation.line)}
        >
          {line}
        </button>
      ) : (
        <span className="jp-CodeAgent-quiet jp-CodeAgent-figure">{line}</span>
      )}
      <span className="jp-CodeAgent-operationText">{operation.text}</span>
      {examples && (
        <button
          type="button"
          className="jp-CodeAgent-link"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open ? '▾' : '▸'} {examples.title}
        </button>
      )}
      {open && examples && <Examples examples={examples} />}
    </li>
  );
}

function Examples(props: { examples: IExamples }): JSX.Element {
  const { title, columns, rows } = props.examples;
  return (
    <div className="jp-CodeAgent-examples" tabIndex={0} role="group" aria-label={title}>
      <table>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={index}>{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
