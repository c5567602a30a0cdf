import { CodeEditor } from '@jupyterlab/codeeditor';
import React, { useEffect, useRef } from 'react';

import { useServices } from '../services';
import { CopyButton } from './basics';

/**
 * Code to look at, with syntax colours. Text that grows at its end is appended: the editor then colours only what
 * is new, and draws only what is in sight.
 */
export function CodeView(props: {
  code: string;
  label: string;
  /** Keep the end in sight, unless the user scrolled away from it. */
  follow?: boolean;
  className?: string;
}): JSX.Element {
  const { editors } = useServices();
  const { code, label, follow = false } = props;
  const host = useRef<HTMLDivElement>(null);
  const shown = useRef<IShown | null>(null);
  useEffect(() => {
    const node = host.current!;
    const model = new CodeEditor.Model({ mimeType: 'text/x-python' });
    const editor = editors.factoryService.newInlineEditor({
      host: node,
      model,
      config: { readOnly: true, lineNumbers: false, lineWrap: false }
    });
    shown.current = { model, node, text: '', atEnd: true };
    const scroller = scrollerOf(node);
    // Nothing in it can be edited, but it has to be scrolled by keyboard too.
    scroller.tabIndex = 0;
    const onScroll = (): void => {
      if (shown.current) {
        shown.current.atEnd = isAtEnd(scroller);
      }
    };
    scroller.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      scroller.removeEventListener('scroll', onScroll);
      shown.current = null;
      editor.dispose();
      model.dispose();
    };
  }, [editors]);
  useEffect(() => {
    const scroller = scrollerOf(host.current!);
    scroller.setAttribute('role', 'group');
    scroller.setAttribute('aria-label', label);
    const content = scroller.querySelector<HTMLElement>('[role=textbox]');
    content?.setAttribute('aria-label', label);
    content?.setAttribute('tabindex', '-1'); // one stop of the Tab key is enough: the scroller
  }, [label]);
  useEffect(() => {
    if (shown.current && update(shown.current, code) && follow && shown.current.atEnd) {
      const scroller = scrollerOf(shown.current.node);
      scroller.scrollTop = scroller.scrollHeight;
    }
  }, [code, follow, editors]);
  return <div ref={host} className={`jp-CodeAgent-codeView ${props.className ?? ''}`} />;
}

/** Code in colours, with a button to copy it. */
export function CopyableCode(props: { code: string; label: string }): JSX.Element {
  return (
    <div className="jp-CodeAgent-code">
      <CodeView code={props.code} label={props.label} />
      <CopyButton text={props.code} />
    </div>
  );
}

interface IShown {
  model: CodeEditor.Model;
  node: HTMLElement;
  text: string;
  atEnd: boolean;
}

/** Whether there was anything new. */
function update(shown: IShown, code: string): boolean {
  const { sharedModel } = shown.model;
  if (code === shown.text) {
    return false;
  }
  if (code.startsWith(shown.text)) {
    sharedModel.updateSource(shown.text.length, shown.text.length, code.slice(shown.text.length));
  } else {
    sharedModel.setSource(code);
    shown.atEnd = true; // another text: the user's position is gone
  }
  shown.text = code;
  return true;
}

/** CodeMirror scrolls in a node of its own. */
function scrollerOf(node: HTMLElement): HTMLElement {
  return node.querySelector<HTMLElement>('.cm-scroller') ?? node;
}

function isAtEnd(node: HTMLElement): boolean {
  return node.scrollHeight - node.scrollTop - node.clientHeight < 24;
}
