/** The name under which Jupyter AI knows this page. */
import type { CommandRegistry } from '@lumino/commands';

const COMMAND = 'jupyterlab-commands-toolkit:get-web-client-id';

/** With it a message of a chat says in which page it was written; empty without Jupyter AI. */
export async function findWebClient(commands: CommandRegistry): Promise<string> {
  return commands.hasCommand(COMMAND) ? String(await commands.execute(COMMAND)) : '';
}
