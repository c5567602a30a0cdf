/** Small pieces that several views share. */
import type { LabIcon } from '@jupyterlab/ui-components';
import React, { useEffect, useState } from 'react';

import { useServices } from '../services';

export function Button(props: {
  children: React.ReactNode;
  onClick: () => void;
  kind?: 'primary' | 'danger';
  title?: string;
  label?: string;
  disabled?: boolean;
  /** Displayed without the text where there is little space. */
  icon?: LabIcon;
  /** Never display the text. */
  iconOnly?: boolean;
}): JSX.Element {
  const { icon: Icon } = props;
  const kind = `${props.kind ? ` jp-mod-${props.kind}` : ''}${props.iconOnly ? ' jp-mod-icon' : ''}`;
  return (
    <button
      type="button"
      className={`jp-CodeAgent-button${kind}`}
      title={props.title}
      aria-label={props.label}
      disabled={props.disabled}
      onClick={props.onClick}
    >
      {Icon ? (
        <>
          <Icon.react tag="span" className="jp-CodeAgent-buttonIcon" />
          <span className="jp-CodeAgent-buttonText">{props.children}</span>
        </>
      ) : (
        props.children
      )}
    </button>
  );
}

export function Section(props: {
  title: string;
  children: React.ReactNode;
  extra?: React.ReactNode;
}): JSX.Element {
  return (
    <section className="jp-CodeAgent-section" aria-label={props.title}>
      <header>
        <h3>{props.title}</h3>
        {props.extra}
      </header>
      {props.children}
    </section>
  );
}

export function Fold(props: {
  summary: React.ReactNode;
  children: React.ReactNode;
  open?: boolean;
  className?: string;
}): JSX.Element {
  const [open, setOpen] = useState(props.open ?? false);
  return (
    <details
      className={`jp-CodeAgent-fold ${props.className ?? ''}`}
      open={open}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>{props.summary}</summary>
      {open && props.children}
    </details>
  );
}

export function Empty(props: { children: React.ReactNode }): JSX.Element {
  return <div className="jp-CodeAgent-empty">{props.children}</div>;
}

export function Problem(props: { children: React.ReactNode }): JSX.Element {
  return (
    <p role="alert" className="jp-CodeAgent-problem">
      {props.children}
    </p>
  );
}

export function Chip(props: { kind: string; children: React.ReactNode }): JSX.Element {
  return (
    <span className="jp-CodeAgent-chip" data-kind={props.kind}>
      {props.children}
    </span>
  );
}

/** Code as text, scrollable with the keyboard, with a button to copy it. */
export function Code(props: {
  code: string;
  label: string;
  copy?: boolean;
  /** Line that is marked, from 1; with it a click marks another. */
  line?: number;
  onLine?: (line: number) => void;
}): JSX.Element {
  const { code, line, onLine } = props;
  return (
    <div className="jp-CodeAgent-code">
      <pre tabIndex={0} role="group" aria-label={props.label}>
        {onLine
          ? code.split('\n').map((text, index) => (
              <span
                key={index}
                className="jp-CodeAgent-codeLine"
                aria-current={index + 1 === line || undefined}
                onClick={() => onLine(index + 1)}
              >
                {`${text}\n`}
              </span>
            ))
          : code}
      </pre>
      {props.copy && <CopyButton text={props.code} />}
    </div>
  );
}

export function CopyButton(props: { text: string }): JSX.Element {
  const { trans } = useServices();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    const timer = copied ? window.setTimeout(() => setCopied(false), 1500) : 0;
    return () => window.clearTimeout(timer);
  }, [copied]);
  return (
    <Button
      onClick={() => {
        copyText(props.text);
        setCopied(true);
      }}
    >
      {copied ? trans.__('Copied') : trans.__('Copy')}
    </Button>
  );
}

function copyText(text: string): void {
  // The clipboard interface exists only in secure contexts; the old way works on plain http too.
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
