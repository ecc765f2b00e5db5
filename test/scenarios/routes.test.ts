import { afterAll, beforeAll, expect, it } from 'vitest';
import { startHouse } from '../support/house.ts';
import type { House } from '../support/house.ts';
import { startProvider } from '../support/provider.ts';
import type { Provider } from '../support/provider.ts';

let broken = new Set<string>();
let provider: Provider;
let house: House;

beforeAll(async () => {
  provider = await startProvider({
    answers: ({ body }) =>
      broken.has(body.model)
        ? { status: { code: 503 } }
        : { text: body.model, usage: { prompt_tokens: 1, completion_tokens: 1 } },
  });
  const models = ['one', 'two', 'spare'].map(id => ({
    id,
    name: `Model ${id}`,
    contextWindow: id === 'two' ? 50_000 : 90_000,
  }));
  const scripted = { type: 'openai-compatible', baseUrl: provider.baseUrl, models };
  house = await startHouse({
    config: {
      providers: { scripted },
      defaultModel: 'balanced',
      limits: { providerAttempts: 1 },
      routes: {
        balanced: {
          models: [{ model: 'one', weight: 3 }, { model: 'scripted/two' }, { model: 'spare', priority: 2 }],
        },
      },
    },
  });
});
afterAll(async () => {
  await house.close();
  await provider.close();
});

const turnOf = (conversationId: string, model = 'balanced') =>
  house.peer({ conversationId, model }).turn('hi', { clientSupportsRoutedModelUpdate: true });

it('[product-routes] a route leads each conversation to one model, as often as the weights say, and tells which', async () => {
  broken = new Set();
  const counts: Record<string, number> = {};
  for (let at = 0; at < 60; at++) {
    const peer = await turnOf(`conversation-${at}`);
    counts[peer.text] = (counts[peer.text] ?? 0) + 1;
    expect(peer.updates('routedModel').map(({ displayName }) => displayName)).toEqual([`Model ${peer.text}`]);
    if (at < 5) expect((await turnOf(`conversation-${at}`, '')).text).toBe(peer.text); // the default, and a later turn
  }
  expect(Object.keys(counts).toSorted()).toEqual(['one', 'two']);
  expect(counts['one']!).toBeGreaterThan(36);
  expect(counts['one']!).toBeLessThan(55); // three of four are 45
  const quiet = await house.peer({ model: 'balanced' }).turn('hi');
  expect(quiet.updates('routedModel')).toEqual([]);
});

it('[product-routes] the others stand in while it fails, those of a lower priority last', async () => {
  const first = (await turnOf('a')).text;
  broken = new Set([first]);
  const other = first === 'one' ? 'two' : 'one';
  expect((await turnOf('a')).text).toBe(other);
  broken.add(other);
  const peer = await turnOf('a');
  expect(peer.text).toBe('spare');
  expect(peer.updates('routedModel').map(({ displayName }) => displayName)).toEqual([
    `Model ${first}`,
    `Model ${other}`,
    'Model spare',
  ]);
  const rows = ((await (await fetch(`${house.server.url}/v1/usage?by=model`)).json()) as { rows: { name: string }[] })
    .rows;
  expect(rows.map(({ name }) => name)).toContain('scripted/spare');
  broken = new Set();
  expect((await turnOf('a')).text).toBe(first);
});

it('[product-routes] a route is listed first when it is the default, with what holds for every model of it', async () => {
  const { items } = (await (await fetch(`${house.server.url}/v1/models`)).json()) as {
    items: Record<string, unknown>[];
  };
  expect(items.map(({ id }) => id)).toEqual(['balanced', 'one', 'two', 'spare']);
  expect(items[0]).toMatchObject({
    contextWindow: 50_000,
    description: expect.stringContaining('Model one, Model two'),
  });
});

it.each([
  [{ a: { models: [] } }, 'routes.a.models: expected a list of 1 or more'],
  [{ a: { models: [{ model: 'one', weight: 0 }] } }, 'routes.a.models[0].weight: expected more than 0'],
  [
    { a: { models: [{ model: 'b' }] }, b: { models: [{ model: 'test-model' }] } },
    'The route a of the config leads to the route b',
  ],
])('[product-routes] a config with the routes %j is refused', async (routes, says) => {
  await expect(startHouse({ config: { routes } })).rejects.toThrow(says);
});
