import { CommandRegistry } from '@lumino/commands';

import { findWebClient } from './webclient';

it('is asked of Jupyter AI, where it is installed', async () => {
  const commands = new CommandRegistry();
  expect(await findWebClient(commands)).toBe('');
  commands.addCommand('jupyterlab-commands-toolkit:get-web-client-id', { execute: () => 'page-7' });
  expect(await findWebClient(commands)).toBe('page-7');
});
