import { ellipsesIcon, MenuSvg } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import React, { useEffect, useRef, useState } from 'react';

import { useServices } from '../services';

export interface IMenuAction {
  label: string;
  act: () => void;
}

/** A menu of JupyterLab's for what is wanted less often; null separates. */
export function MenuButton(props: { actions: readonly (IMenuAction | null)[] }): JSX.Element {
  const { trans } = useServices();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<MenuSvg | null>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => () => menu.current?.dispose(), []);
  const open = (): void => {
    menu.current?.dispose();
    menu.current = menuOf(props.actions);
    menu.current.aboutToClose.connect(() => {
      setOpen(false);
      button.current?.focus(); // what is chosen may take it from there
    });
    const { left, bottom } = button.current!.getBoundingClientRect();
    menu.current.open(left, bottom);
    setOpen(true);
  };
  return (
    <button
      ref={button}
      type="button"
      className="jp-CodeAgent-button jp-mod-icon"
      title={trans.__('More actions')}
      aria-label={trans.__('More actions')}
      aria-haspopup="menu"
      aria-expanded={isOpen}
      onClick={open}
    >
      <ellipsesIcon.react tag="span" className="jp-CodeAgent-buttonIcon" />
    </button>
  );
}

function menuOf(actions: readonly (IMenuAction | null)[]): MenuSvg {
  const commands = new CommandRegistry();
  const menu = new MenuSvg({ commands });
  actions.forEach((action, index) => {
    if (action) {
      const command = `action-${index}`;
      commands.addCommand(command, { label: action.label, execute: action.act });
      menu.addItem({ command });
    } else {
      menu.addItem({ type: 'separator' });
    }
  });
  return menu;
}
