import { CodeEditor } from '@jupyterlab/codeeditor';
import React, { useEffect, useRef } from 'react';

import { useServices } from '../services';

/** What can be done to an editor from outside. */
export interface IEditorHandle {
  reset: () => void;
}

/** A code editor of JupyterLab. `value` is its text at the start; `onChange` is called at each edit. */
export function Editor(props: {
  value: string;
  label: string;
  /** Long lines are wrapped, so that nothing of them is out of sight. */
  wrap: boolean;
  handle: React.MutableRefObject<IEditorHandle>;
  onChange: (code: string) => void;
}): JSX.Element {
  const { editors } = useServices();
  const { value, label, wrap, handle } = props;
  const host = useRef<HTMLDivElement>(null);
  const changed = useRef(props.onChange);
  changed.current = props.onChange;
  useEffect(() => {
    const model = new CodeEditor.Model({ mimeType: 'text/x-ipython' });
    const shared = model.sharedModel;
    shared.setSource(value);
    const onChange = (): void => changed.current(shared.getSource());
    shared.changed.connect(onChange);
    const editor = editors.factoryService.newInlineEditor({
      host: host.current!,
      model,
      config: { lineNumbers: false, lineWrap: wrap }
    });
    host.current!.querySelector('[role=textbox]')?.setAttribute('aria-label', label);
    // Tab goes on to the next control, as everywhere in the panel: an editor that keeps it is a trap for the keyboard.
    const leaveTab = (event: KeyboardEvent): void => {
      if (event.key === 'Tab') {
        event.stopPropagation();
      }
    };
    const node = host.current!;
    node.addEventListener('keydown', leaveTab, true);
    handle.current = { reset: () => shared.setSource(value) };
    return () => {
      node.removeEventListener('keydown', leaveTab, true);
      shared.changed.disconnect(onChange);
      editor.dispose();
      model.dispose();
    };
  }, [editors, value, label, wrap, handle]);
  return <div ref={host} className="jp-CodeAgent-editor" />;
}
