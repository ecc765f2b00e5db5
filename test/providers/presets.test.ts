import { describe, expect, it } from 'vitest';
import type { RemoteType } from '../../packages/server/src/config/provider-types.ts';
import { PROVIDER_TYPE, keyHeaders, providerTypeOf } from '../../packages/server/src/config/provider-types.ts';
import { NO_QUIRKS, QUIRKS } from '../../packages/server/src/model/quirks.ts';
import { PLANTED_KEY, READ_FILE, ask, connectModel, requestOf, resultsOf, user } from '../support/provider-model.ts';

const types = Object.keys(PROVIDER_TYPE) as RemoteType[];
const chatTypes = types.filter(type => providerTypeOf(type).wire === 'chat');

/** The second request of a turn with thinking, a call, its result and a word of the user after it. */
async function secondBody(type: RemoteType, parameters: Record<string, string> = {}) {
  const { model, provider } = await connectModel(type, ['step', 'text'], { maxOutput: 4_000 });
  const { message } = await ask(model, requestOf([user('Go.')], { parameters, cacheKey: 'conversation-1' }));
  const history = [user('Go.'), message, resultsOf(message), user('And now?')];
  await ask(model, requestOf(history, { parameters, cacheKey: 'conversation-1' }));
  expect(provider.refusals).toEqual([]);
  return provider.requests[1]?.body as {
    messages: { role: string; tool_calls?: { id: string }[]; tool_call_id?: string; [field: string]: unknown }[];
    [field: string]: unknown;
  };
}

describe('each type of the config', () => {
  it.each(types)('[product-provider-presets] %s answers a turn with a call, its key in its own header', async type => {
    const { model, provider } = await connectModel(type, ['tool', 'text']);
    const { message } = await ask(model, requestOf([user('Go.')]));
    await ask(model, requestOf([user('Go.'), message, resultsOf(message)]));
    expect(provider.refusals).toEqual([]);
    const { keyHeader } = providerTypeOf(type);
    const holders = Object.entries(provider.requests[0]?.headers ?? {}).filter(([, text]) =>
      text?.includes(PLANTED_KEY),
    );
    expect(holders.map(([name]) => name)).toEqual([keyHeader]);
    expect(provider.requests[0]?.text).not.toContain(PLANTED_KEY);
  });

  it('[product-provider-quirks] has a reason beside each difference, and no difference that is none', () => {
    for (const [type, { why, ...quirks }] of Object.entries(QUIRKS)) {
      expect(types).toContain(type);
      expect(why, type).toMatch(/.{15}/);
      for (const [name, value] of Object.entries(quirks)) {
        expect(value, `${type} ${name}`).not.toEqual(NO_QUIRKS[name as keyof typeof NO_QUIRKS]);
      }
    }
  });

  it('is called without a key where none was given', () => {
    expect(keyHeaders('ollama', undefined)).toEqual({});
    expect(keyHeaders('anthropic', undefined)).toEqual({ 'anthropic-version': '2023-06-01' });
  });
});

describe('the quirks of the chat wire', () => {
  it.each(chatTypes)(
    '[product-provider-quirks] %s gets its reasoning back in its own field or not at all',
    async type => {
      const { messages } = await secondBody(type);
      const written = messages.find(message => message.role === 'assistant' && message.tool_calls);
      const field = QUIRKS[type]?.reasoningReplay ?? 'reasoning_content';
      const sent = ['reasoning_content', 'reasoning'].filter(name => written?.[name] !== undefined);
      expect(sent).toEqual(field === 'none' ? [] : [field]);
      if (field !== 'none') expect(written?.[field]).toBe('I look at the file.');
    },
  );

  it.each(chatTypes)('[product-provider-quirks] %s gets effort and length in the words it takes', async type => {
    const body = await secondBody(type, { effort: 'high' });
    const { effort, maxTokens } = { ...NO_QUIRKS, ...QUIRKS[type] };
    expect(body[maxTokens]).toBe(4_000);
    expect(body['max_tokens'] === undefined).toBe(maxTokens !== 'max_tokens');
    expect([body['reasoning_effort'], body['reasoning']]).toEqual([
      effort === 'reasoning_effort' ? 'high' : undefined,
      effort === 'reasoning.effort' ? { effort: 'high' } : undefined,
    ]);
  });

  it('[product-provider-quirks] mistral gets ids of nine letters and an assistant between tool and user', async () => {
    const { messages, ...body } = await secondBody('mistral');
    const id = messages.find(({ tool_calls }) => tool_calls)?.tool_calls?.[0]?.id;
    const foreign = {
      role: 'assistant' as const,
      content: [{ type: 'tool-call', toolCallId: 'call_of_another_model', toolName: 'read_file', args: {} }],
    };
    const { model, provider } = await connectModel('mistral', ['text']);
    await ask(model, requestOf([user('Go.'), foreign, resultsOf(foreign), user('On.')]));
    expect(provider.refusals).toEqual([]);
    expect(provider.requests[0]?.body.messages[2].tool_calls[0].id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
    expect(messages[3]?.tool_call_id).toBe(id);
    expect(body['stream_options']).toBeUndefined();
  });

  it('[product-provider-quirks] google gets the part of JSON schema that it takes', async () => {
    const { model, provider } = await connectModel('google', ['text']);
    await ask(model, requestOf([user('Go.')]));
    expect(provider.refusals).toEqual([]);
    const [read, list] = provider.requests[0]?.body.tools[0].functionDeclarations;
    expect(Object.keys(read.parameters.properties)).toEqual(Object.keys(READ_FILE.parameters['properties'] as object));
    expect(list.parameters).toBeUndefined();
  });

  it('[product-provider-presets] bedrock is signed when it has a key of AWS', async () => {
    const { Secret } = await import('../../packages/server/src/config/secret.ts');
    const secretAccessKey = new Secret('wJalrXUtnFEMI/K7MDENG');
    const aws = {
      region: 'eu-west-1',
      accessKeyId: new Secret('AKIDEXAMPLE'),
      secretAccessKey,
      sessionToken: new Secret('session-1'),
    };
    const { model, provider } = await connectModel('bedrock', ['text'], { aws });
    await ask(model, requestOf([user('Go.')]));
    const { headers, path } = provider.requests[0] ?? {};
    expect(path).toBe('/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream');
    expect(headers?.['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request/,
    );
    expect(headers?.['x-amz-security-token']).toBe('session-1');
  });
});
