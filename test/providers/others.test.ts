import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RemoteType } from '../../packages/server/src/config/provider-types.ts';
import { Secret } from '../../packages/server/src/config/secret.ts';
import { createRemoteModel } from '../../packages/server/src/model/remote-model.ts';
import { PLANTED_KEY, ask, requestOf, user } from '../support/provider-model.ts';

/** A mock of these APIs that others wrote, as the upstream: what our fakes and our adapters agree on could still be wrong. */
const mock = new LLMock({ port: 0, chunkSize: 7 });
beforeAll(async () => {
  const read = (path: string) => ({ name: 'read_file', arguments: JSON.stringify({ path }) });
  mock.onMessage('hello', { content: 'Hi thére 👋🏽, how are you?', reasoning: 'The user greets me.' });
  mock.onMessage('read', { toolCalls: [read('a.txt'), read('b.txt')] });
  await mock.start();
});
afterAll(() => mock.stop());

const AWS = { region: 'us-east-1', accessKeyId: new Secret('AKIDEXAMPLE'), secretAccessKey: new Secret(PLANTED_KEY) };

it.each<[RemoteType, string, string]>([
  ['anthropic', '/v1', 'claude-sonnet-4-5'],
  ['openai', '/v1', 'gpt-5'],
  ['google', '/v1beta', 'gemini-3-flash'],
  ['vertex', '/v1/projects/p/locations/global/publishers/google', 'gemini-2.5-flash'],
  ['bedrock', '', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['azure', '/v1', 'gpt-5'],
  ['openai-chat', '/v1', 'gpt-5'],
  ['openrouter', '/api/v1', 'vendor/model'],
  ['ollama', '/v1', 'some-model'],
])('[product-provider-others] %s is understood as others speak it', async (type, path, id) => {
  const model = createRemoteModel(
    {
      name: type,
      type,
      baseUrl: `${mock.url}${path}`,
      ...(type === 'bedrock' ? { aws: AWS } : { apiKey: new Secret(PLANTED_KEY) }),
      headers: {},
      models: [],
    },
    {
      key: `${type}/${id}`,
      provider: type,
      id,
      name: id,
      contextWindow: 100_000,
      maxOutput: 16_000,
      vision: true,
      aliases: [],
      parameters: [],
    },
    {},
  );
  const parameters = { effort: 'medium' };
  expect(await ask(model, requestOf([user('hello')], { parameters }))).toMatchObject({
    text: 'Hi thére 👋🏽, how are you?',
    reasoning: 'The user greets me.',
    reason: 'stop',
  });
  const calls = ['a.txt', 'b.txt'].map(name => ({ name: 'read_file', args: { path: name } }));
  expect(await ask(model, requestOf([user('read')], { parameters }))).toMatchObject({ calls, reason: 'tool-calls' });
});
