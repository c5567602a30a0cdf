// An MCP client of the SDK for TypeScript, which shares no code with the one for Python.
// Arguments: the folder in which the SDK is installed, then one JSON text: {"server": {"command": …, "args": […]}} or
// {"server": {"url": …, "token": …}}, and "calls": [[tool, arguments, milliseconds until it is cancelled or 0], …].
// Prints one JSON text: the names of the tools, and what each call answered.
import { createRequire } from 'node:module';

const [folder, given] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');

function transport({ command, args, url, token }) {
  if (command) {
    return new StdioClientTransport({ command, args, env: process.env });
  }
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  return new StreamableHTTPClientTransport(new URL(url), { requestInit });
}

async function answer(client, [name, args, cancelAfter]) {
  const signal = cancelAfter ? AbortSignal.timeout(cancelAfter) : undefined;
  try {
    const { content, isError } = await client.callTool({ name, arguments: args }, undefined, { signal });
    return { text: content[0].text, is_error: Boolean(isError) };
  } catch (error) {
    return { text: String(error), is_error: true };
  }
}

const { server, calls } = JSON.parse(given);
const client = new Client({ name: 'typescript', version: '1' });
await client.connect(transport(server));
const { tools } = await client.listTools();
const answers = [];
for (const call of calls) {
  answers.push(await answer(client, call));
}
await client.close();
console.log(JSON.stringify({ tools: tools.map(tool => tool.name), answers }));
