import { describe, expect, it } from 'vitest';
import type { RemoteType } from '../../packages/server/src/config/provider-types.ts';
import { providerTypeOf } from '../../packages/server/src/config/provider-types.ts';
import { ask, connectModel, requestOf, resultsOf, user } from '../support/provider-model.ts';
import { startTrio, TRIO_MODELS } from '../support/provider-trio.ts';
import type { WireRequest } from '../support/provider-wire.ts';

const TYPES: readonly RemoteType[] = ['anthropic', 'openai', 'google', 'bedrock', 'openai-compatible'];

type Message = { role: string; content?: unknown; parts?: unknown };

/** What a provider caches a request by, in order: tools, system prompt, then message by message, block by block. */
function prefixOf({ body }: WireRequest): string[] {
  const tools = body.tools ?? body.toolConfig;
  const system = body.system ?? body.systemInstruction;
  const messages = (body.messages ?? body.input ?? body.contents) as Message[];
  const blocks = messages.flatMap(message => {
    const { content, parts, ...rest } = message;
    const list = content ?? parts;
    return Array.isArray(list) ? list.map(block => ({ ...rest, block: block as unknown })) : [message];
  });
  return [tools, system, ...blocks]
    .map(part => (JSON.stringify(part) ?? '').replace(/,?"cache_control":\{"type":"ephemeral"\}/g, ''))
    .filter(part => !part.includes('"cachePoint"') || part.includes('"text"'));
}

/** Where a body has its marks, as the text before each. */
function marksOf({ text }: WireRequest): string[] {
  return text.split(/,"cache_control":\{"type":"ephemeral"\}|,\{"cachePoint":\{"type":"default"\}\}/).slice(0, -1);
}

async function threeCalls(type: RemoteType): Promise<readonly WireRequest[]> {
  const { model, provider } = await connectModel(type, ['step', 'tool', 'text'], { maxOutput: 4_000 });
  const history = [user('Go.')];
  for (let step = 0; step < 3; step++) {
    const parameters = { effort: 'medium' };
    const { message } = await ask(model, requestOf(history, { parameters, cacheKey: 'conversation-1' }));
    history.push(message, resultsOf(message, `result ${step}`), user(`Note ${step}.`));
  }
  expect(provider.refusals).toEqual([]);
  return provider.requests;
}

describe.each(TYPES)('the cache of %s', type => {
  it('[product-provider-cache] finds the whole of each call at the beginning of the next, byte for byte', async () => {
    const prefixes = (await threeCalls(type)).map(prefixOf);
    for (const [at, prefix] of prefixes.entries()) {
      if (at > 0) expect(prefix.slice(0, prefixes[at - 1]?.length)).toEqual(prefixes[at - 1]);
    }
    expect(prefixes[2]?.length).toBeGreaterThan(prefixes[1]?.length ?? 0);
  });

  it('[product-provider-cache] is helped in the way its provider wants', async () => {
    const requests = await threeCalls(type);
    const { wire } = providerTypeOf(type);
    const counts = requests.map(request => marksOf(request).length);
    expect(counts).toEqual(wire === 'messages' || wire === 'converse' ? [2, 3, 3] : [0, 0, 0]);
    const keys = requests.map(({ body }) => body.prompt_cache_key as unknown);
    expect(new Set(keys)).toEqual(new Set([type === 'openai' ? 'conversation-1' : undefined]));
  });
});

it.each(['anthropic', 'bedrock'] as const)(
  '[product-provider-cache] %s is marked at the system prompt and where the call before it ended',
  async type => {
    const [, second, third] = (await threeCalls(type)).map(marksOf);
    for (const marks of [second, third])
      expect(marks?.some(text => text.endsWith('"You help."') || text.endsWith('"You help."}'))).toBe(true);
    expect(second?.at(-1)).toMatch(/Note 0\."\}?$/);
    expect(third?.at(-2)).toMatch(/Note 0\."\}?$/);
    expect(third?.at(-1)).toMatch(/Note 1\."\}?$/);
  },
);

it('[product-provider-cache] what it read and wrote is told with the end of the turn, and has one key a conversation', async () => {
  const trio = await startTrio({ anthropic: ['step', 'text'], openai: ['step', 'text'] });
  const ended = async (type: 'anthropic' | 'openai') => {
    const peer = await trio.peer(type).turn('look', { requestedModel: { modelId: TRIO_MODELS[type] } });
    expect([peer.fault, trio.providers[type]?.refusals]).toEqual([undefined, []]);
    return { peer, value: peer.updates('turnEnded')[0] };
  };
  const { value: claude } = await ended('anthropic');
  expect(claude).toMatchObject({ inputTokens: 200n, cacheReadTokens: 40n, cacheWriteTokens: 10n, outputTokens: 20n });
  const { value: gpt, peer } = await ended('openai');
  expect(gpt).toMatchObject({ inputTokens: 210n, cacheReadTokens: 40n, outputTokens: 20n });
  const keys = trio.providers['openai']?.requests.map(({ body }) => body.prompt_cache_key as unknown);
  expect(keys).toEqual([peer.conversationId, peer.conversationId]);
});
