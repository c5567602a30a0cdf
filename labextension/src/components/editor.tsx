import { CodeEditor } from '@jupyterlab/codeeditor';
import React, { useEffect, useRef } from 'react';

import { useServices } from './services';

/** A code editor of JupyterLab. `value` is its text at the start; `read` is set to a function that tells it now. */
export function Editor(props: {
  value: string;
  label: string;
  read: React.MutableRefObject<() => string>;
}): JSX.Element {
  const { editors } = useServices();
  const { value, label, read } = props;
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const model = new CodeEditor.Model({ mimeType: 'text/x-ipython' });
    model.sharedModel.setSource(value);
    const editor = editors.factoryService.newInlineEditor({
      host: host.current!,
      model,
      config: { lineNumbers: false, lineWrap: false }
    });
    host.current!.querySelector('[role=textbox]')?.setAttribute('aria-label', label);
    read.current = () => model.sharedModel.getSource();
    return () => {
      editor.dispose();
      model.dispose();
    };
  }, [editors, value, label, read]);
  return <div ref={host} className="jp-CodeAgent-editor" />;
}
