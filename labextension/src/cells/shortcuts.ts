import { CommandRegistry } from '@lumino/commands';

/** The keys of a command as they are bound now: `Ctrl+F8`; empty if it has none. */
export function keysOf<Name extends string>(
  commands: CommandRegistry,
  ids: Readonly<Record<Name, string>>
): (name: Name) => string {
  return name => {
    const binding = [...commands.keyBindings].reverse().find(bound => bound.command === ids[name]);
    return binding ? binding.keys.map(CommandRegistry.formatKeystroke).join(', ') : '';
  };
}

/** The title, followed by the keys. */
export function withKeys(title: string, keys: string): string {
  return keys ? `${title} (${keys})` : title;
}
