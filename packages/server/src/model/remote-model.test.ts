import { expect, test } from 'vitest';
import type { RemoteProvider } from '../config/config.ts';
import { Secret } from '../config/secret.ts';
import type { ModelInfo } from './port.ts';
import { createRemoteModel } from './remote-model.ts';

const INFO: ModelInfo = {
  key: 'house/o3',
  provider: 'house',
  id: 'o3',
  name: 'o3',
  contextWindow: 1000,
  maxOutput: 100,
  vision: false,
  aliases: [],
  parameters: [],
};

/** What a provider of the config is sent. */
async function sentTo(provider: Partial<RemoteProvider>): Promise<{ headers: Headers; body: object; url: string }> {
  const sent: { headers: Headers; body: object; url: string }[] = [];
  const config: RemoteProvider = {
    name: 'house',
    type: 'openai-compatible',
    baseUrl: 'http://house.test/v1',
    headers: {},
    models: [],
    ...provider,
  };
  const model = createRemoteModel(config, INFO, {
    maxOutput: 77,
    fetch: (url, { headers, body }) => {
      sent.push({ url, headers: new Headers(headers), body: JSON.parse(body as string) as object });
      return Promise.resolve(new Response('data: [DONE]\n\n'));
    },
  });
  const request = { messages: [], tools: [], parameters: {}, signal: new AbortController().signal };
  for await (const event of model.stream(request)) expect(event.type).toBe('finish');
  return sent[0]!;
}

test('a provider gets the headers of the config, each in the place of one of ours', async () => {
  const key = { apiKey: new Secret('key-12345678') };
  const { headers, url } = await sentTo({ ...key, headers: { 'X-Team': new Secret('blue') } });
  expect(url).toBe('http://house.test/v1/chat/completions');
  expect([headers.get('x-team'), headers.get('authorization')]).toEqual(['blue', 'Bearer key-12345678']);
  const own = await sentTo({ ...key, headers: { Authorization: new Secret('Basic abc') } });
  expect(own.headers.get('authorization')).toBe('Basic abc');
});

test('a provider with an empty key is called without one', async () => {
  expect((await sentTo({ apiKey: new Secret('') })).headers.has('authorization')).toBe(false);
});

test('OpenAI gets what it takes, also where the config calls it compatible', async () => {
  const { body } = await sentTo({ baseUrl: 'https://api.openai.com/v1' });
  expect(body).toMatchObject({ max_completion_tokens: 77 });
  expect(body).not.toHaveProperty('max_tokens');
  expect((await sentTo({})).body).toMatchObject({ max_tokens: 77 });
});
