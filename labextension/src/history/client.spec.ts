import { ServerConnection } from '@jupyterlab/services';

import { insertMessage, run } from '../testing/golden';
import { HistoryClient, HistoryError } from './client';

interface IAsked {
  url: string;
  method: string;
  body: string;
}

/** A client of a server that gives this one answer, and what it was asked. */
function clientOf(answer: () => Response | Promise<Response>): { client: HistoryClient; asked: IAsked[] } {
  const asked: IAsked[] = [];
  const settings = ServerConnection.makeSettings({
    baseUrl: 'http://host/base/',
    token: '',
    fetch: async (request: RequestInfo | URL) => {
      const { url, method } = request as Request;
      asked.push({ url: url.replace(/[?&]\d+$/, ''), method, body: await (request as Request).text() });
      return answer();
    }
  });
  return { client: new HistoryClient(settings), asked };
}

const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } });

const line = {
  id: 'a',
  prompt: 'p',
  notebook: null,
  model: 'm',
  status: 'ok',
  started_at: 1
};

it('lists with search and page, and leaves empty conditions out', async () => {
  const { client, asked } = clientOf(() => json({ total: 1, runs: [line] }));
  expect((await client.list({ search: 'a&b c', limit: 30, offset: 0, notebook: '' })).runs).toHaveLength(1);
  const url = new URL(asked[0].url);
  expect(url.pathname).toBe('/base/jupyter-codeagent/runs');
  expect([...url.searchParams].filter(([key]) => !/^\d+$/.test(key))).toEqual([
    ['search', 'a&b c'],
    ['limit', '30'],
    ['offset', '0']
  ]);
});

it('reads a run whole and its cells', async () => {
  expect((await clientOf(() => json(run())).client.get('a')).id).toBe(run().id);
  const { cells } = insertMessage();
  const inserted = { cells, receipt: { 'text/plain': 'ok', 'text/html': '<b>ok</b>' } };
  expect(await clientOf(() => json(inserted)).client.inserted('a')).toEqual(inserted);
});

it('reads why no code of a result may run in the kernel', async () => {
  const answer = { version: '1', policy: { apply: 'never' }, apply_refusal: 'never' };
  expect(await clientOf(() => json(answer)).client.applyRefusal()).toBe('never');
});

it('quotes an id so that it cannot become another address', async () => {
  const { client, asked } = clientOf(() => json(run()));
  await client.get('../../api/kernels');
  expect(new URL(asked[0].url).pathname).toBe('/base/jupyter-codeagent/runs/..%2F..%2Fapi%2Fkernels');
});

it('writes a decision and deletes', async () => {
  const { client, asked } = clientOf(() => new Response(null, { status: 204 }));
  await client.setState('a', 'accepted');
  await client.noteApplied('a', 'x = 1');
  await client.delete('a');
  expect(asked.map(({ method, body }) => [method, body])).toEqual([
    ['POST', '{"state":"accepted"}'],
    ['POST', '{"code":"x = 1"}'],
    ['DELETE', '']
  ]);
});

it.each<[string, () => Response, RegExp]>([
  ['its message', () => json({ message: "There is no run 'a'." }, 404), /^There is no run 'a'\.$/],
  [
    'that it is not enabled',
    () => new Response('<html>', { status: 404 }),
    /jupyter server extension enable/
  ],
  [
    'the status of a proxy’s page',
    () => new Response('<html>', { status: 502, statusText: 'Bad' }),
    /^502 Bad$/
  ],
  ['that its answer is unknown', () => json({ other: 1 }), /of another version/]
])('of a server that refuses, the user reads %s', async (_, answer, expected) => {
  const error: unknown = await clientOf(answer)
    .client.get('a')
    .catch((e: unknown) => e);
  expect(error).toBeInstanceOf(HistoryError);
  expect((error as Error).message).toMatch(expected);
});

it('a server that does not answer is an error of status 0', async () => {
  const { client } = clientOf(() => Promise.reject(new TypeError('Failed to fetch')));
  await expect(client.list({})).rejects.toMatchObject({ status: 0, message: /does not answer/ });
});
