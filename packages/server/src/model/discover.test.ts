import { expect, test } from 'vitest';
import { listModels } from './discover.ts';
import type { Fetch } from './provider-fetch.ts';

const PROVIDER = {
  name: 'p',
  type: 'openai-compatible',
  baseUrl: 'http://x/v1',
  headers: { authorization: 'Bearer k', 'x-team': 'blue' },
} as const;
const answering =
  (body: unknown, status = 200): Fetch =>
  () =>
    Promise.resolve(Response.json(body, { status }));

test('a list tells window, longest answer, sight and effort where it can', async () => {
  const entry = {
    id: 'vendor/one',
    name: 'Vendor: One',
    context_length: 200_000,
    architecture: { input_modalities: ['text', 'image'] },
    top_provider: { max_completion_tokens: 64_000 },
    supported_parameters: ['reasoning', 'tools'],
    pricing: { prompt: '0.0000025', completion: '0.00001', input_cache_read: '0.00000125', image: '0.003' },
  };
  expect(await listModels(PROVIDER, answering({ data: [entry] }))).toEqual([
    {
      key: 'p/vendor/one',
      provider: 'p',
      id: 'vendor/one',
      name: 'Vendor: One',
      contextWindow: 200_000,
      maxOutput: 64_000,
      vision: true,
      aliases: [],
      parameters: [{ id: 'effort', values: [{ value: 'low' }, { value: 'medium' }, { value: 'high' }] }],
      price: { input: 2.5, output: 10, cacheRead: 1.25 },
    },
  ]);
});

test('a price that depends, or is half told, is none', async () => {
  const entries = [{ prompt: '-1', completion: '-1' }, { prompt: '0.1' }, { prompt: 1, completion: 2 }, null];
  const models = await listModels(
    PROVIDER,
    answering({ data: entries.map((pricing, at) => ({ id: `m${at}`, pricing })) }),
  );
  expect(models.map(model => model.price)).toEqual([undefined, undefined, undefined, undefined]);
});

test('an answer that is no JSON is said to be none, and not quoted', async () => {
  const html: Fetch = () => Promise.resolve(new Response('<html>'));
  await expect(listModels(PROVIDER, html)).rejects.toThrow(/^its answer is no JSON$/);
});

test('what holds no conversation is left out, and what has no id', async () => {
  const ids = [
    'gpt-5',
    'text-embedding-3-small',
    'whisper-1',
    'dall-e-3',
    'gpt-4o-mini-tts',
    'gpt-4o-realtime-preview',
    'sora-2',
    'llama',
  ];
  const models = await listModels(PROVIDER, answering({ data: [...ids.map(id => ({ id })), {}, null, { id: 7 }] }));
  expect(models.map(model => model.id)).toEqual(['gpt-5', 'llama']);
  expect(models.map(model => model.parameters.length)).toEqual([1, 0]);
});

test('the key and the headers of the provider are sent', async () => {
  const asked: [string, unknown][] = [];
  await listModels(PROVIDER, (url, init) => {
    asked.push([url, init.headers]);
    return Promise.resolve(Response.json([]));
  });
  expect(asked).toEqual([['http://x/v1/models', { authorization: 'Bearer k', 'x-team': 'blue' }]]);
});

test.each([
  ['a refusal', answering({}, 401), 'it answered 401'],
  ['another thing', answering({ hello: 1 }), 'its answer holds no list of models'],
  ['no JSON', () => Promise.resolve(new Response('<html>')), /JSON/],
] satisfies [string, Fetch, string | RegExp][])('%s is an error with a reason', async (_, fetch, reason) => {
  await expect(listModels(PROVIDER, fetch)).rejects.toThrow(reason);
});
