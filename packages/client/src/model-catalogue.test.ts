import { afterEach, expect, it } from 'vitest';
import { fastClock } from '../test/clocks.ts';
import { FakeServer } from '../test/fake-server.ts';
import type { Intercept } from '../test/fake-server.ts';
import { AgentClient } from './client.ts';

let server: FakeServer | undefined;
afterEach(() => server?.close());

async function models(intercept: Intercept) {
  server = await FakeServer.start(() => undefined, { intercept });
  return await new AgentClient({ baseUrl: server.url, executors: [], clock: fastClock(20) }).models();
}

it('gives the models that have an id', async () => {
  const items = [{ id: 'a', displayName: 'A', aliases: ['x'] }, { displayName: 'no id' }, null];
  expect(await models((_request, response) => (response.writeHead(200).end(JSON.stringify({ items })), true))).toEqual([
    items[0],
  ]);
});

it.each<[string, Intercept, RegExp]>([
  [
    'an error',
    (_request, response) => (response.writeHead(401).end('{"code":"unauthenticated","message":"bad key"}'), true),
    /bad key/,
  ],
  ['no JSON', (_request, response) => (response.writeHead(200).end('<p>'), true), /not JSON/],
  ['another shape', (_request, response) => (response.writeHead(200).end('[]'), true), /list of items/],
  ['silence (S12)', () => true, /did not answer within 10 s/],
])('rejects with words on %s', async (_what, intercept, words) => {
  await expect(models(intercept)).rejects.toThrow(words);
});
