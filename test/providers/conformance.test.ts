import { describe, expect, it } from 'vitest';
import type { Fault } from '@tandem/protocol';
import type { RemoteType } from '../../packages/server/src/config/provider-types.ts';
import { providerTypeOf } from '../../packages/server/src/config/provider-types.ts';
import { ask, connectModel, requestOf, resultsOf, user } from '../support/provider-model.ts';
import { readWireAnswers } from '../support/provider-wire.ts';

/** One provider type of each wire; presets over one wire are in presets.test.ts. */
const TYPES: readonly RemoteType[] = ['anthropic', 'openai', 'google', 'bedrock', 'openai-compatible'];

/** What a wire cannot say at all; everything else of the list holds for every wire. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'google interleaved': 'calls come whole',
  'google refusal': 'a refusal is a text like any other, or a filter',
  'bedrock refusal': 'a refusal is a text like any other, or a guardrail',
  'anthropic filtered': 'a filter ends with the reason refusal',
  'anthropic index-less': 'every event of a block has its index',
  'google index-less': 'calls come whole',
  'bedrock index-less': 'every event of a block has its index',
  'anthropic reasoning tokens': 'thinking is counted as output and not apart',
  'bedrock reasoning tokens': 'thinking is counted as output and not apart',
  'openai cache writes': 'writes cost nothing and are not counted',
  'google cache writes': 'writes cost nothing and are not counted',
  'openai-compatible cache writes': 'writes are not counted',
};

const TEXT = 'Hello, wörld 👋🏽.';
const read = (path: string) => ({ name: 'read_file', args: { path } });
const told = async (type: RemoteType, answer: Parameters<typeof connectModel>[1][number], cut?: number) => {
  const { model, provider } = await connectModel(type, [answer], cut === undefined ? {} : { cut });
  const answered = await ask(model, requestOf([user('Go.')]));
  expect(provider.refusals).toEqual([]);
  return answered;
};
const failure = async (type: RemoteType, answer: Parameters<typeof connectModel>[1][number]): Promise<Fault> => {
  const { model } = await connectModel(type, [answer]);
  return ask(model, requestOf([user('Go.')])).then(
    () => Promise.reject(new Error('it answered')),
    (fault: unknown) => fault as Fault,
  );
};

describe.each(TYPES)('%s', type => {
  const files = readWireAnswers(providerTypeOf(type).wire);
  const isExcepted = (name: string) => `${type} ${name}` in EXCEPTIONS;

  it.each([undefined, 1, 7])('[product-provider-conformance] tells text, in writes of %s bytes', async cut => {
    const answer = await told(type, 'text', cut);
    expect(answer).toMatchObject({ text: TEXT, reasoning: '', calls: [], reason: 'stop' });
  });

  it('[product-provider-conformance] tells thinking before the text, each with its end', async () => {
    const answer = await told(type, 'thinking', 5);
    expect(answer).toMatchObject({ text: 'Done.', reasoning: 'Let me think.', reason: 'stop' });
    const kinds = answer.events.map(event => event.type).filter(kind => kind !== 'redacted-reasoning');
    expect(kinds.lastIndexOf('reasoning')).toBeLessThan(kinds.indexOf('reasoning-end'));
    expect(kinds.indexOf('reasoning-end')).toBeLessThan(kinds.indexOf('text'));
  });

  it('[product-provider-conformance] tells a call after text', async () => {
    expect(await told(type, 'tool')).toMatchObject({ text: 'I look.', calls: [read('a.txt')], reason: 'tool-calls' });
  });

  it.each(['parallel', 'interleaved', 'index-less'])(
    '[product-provider-conformance] tells %s calls apart',
    async name => {
      if (isExcepted(name)) return expect(files[name], EXCEPTIONS[`${type} ${name}`]).toBeUndefined();
      const answer = await told(type, name);
      expect(answer).toMatchObject({ calls: [read('a.txt'), read('b.txt')], reason: 'tool-calls' });
      const starts = answer.events.filter(event => event.type === 'tool-start').map(event => event.key);
      const ends = answer.events.filter(event => event.type === 'tool-call').map(event => event.key);
      expect([new Set(starts).size, ends.toSorted()]).toEqual([2, starts.toSorted()]);
    },
  );

  it('[product-provider-conformance] reads a call without arguments as one with none', async () => {
    expect((await told(type, 'no arguments')).calls).toEqual([{ name: 'list_files', args: {} }]);
  });

  it.each([
    ['length', 'Cut ', 'length'],
    ['filtered', 'Half', 'content-filter'],
    ['refusal', 'I will not.', 'refusal'],
    ['missing', 'Half', 'missing'],
  ])('[product-provider-conformance] tells an end by %s', async (name, text, reason) => {
    if (isExcepted(name)) return expect(files[name], EXCEPTIONS[`${type} ${name}`]).toBeUndefined();
    expect(await told(type, name)).toMatchObject({ text, reason });
  });

  it('[product-provider-conformance] passes over events nobody knows', async () => {
    expect(await told(type, 'unknown')).toMatchObject({ text: TEXT, calls: [], reason: 'stop' });
  });

  it('[product-provider-usage] counts input without what the cache gave, and output with its thinking', async () => {
    const { usage } = await told(type, 'text');
    const hasWrites = !isExcepted('cache writes');
    expect(usage).toEqual({
      inputTokens: hasWrites ? 100 : 105,
      outputTokens: 10,
      cacheReadTokens: 20,
      ...(hasWrites && { cacheWriteTokens: 5 }),
      ...(!isExcepted('reasoning tokens') && { reasoningTokens: 3 }),
    });
  });

  it('[product-provider-conformance] fails with what the provider says inside a 200', async () => {
    const early = await failure(type, 'failing');
    expect(early).toMatchObject({ retryable: true });
    expect(early.detail).toMatch(/overloaded|too many requests|had an error/i);
    expect(await failure(type, 'failing late')).toMatchObject({ retryable: true });
  });

  it('[product-provider-conformance] fails when the connection breaks, after what had come', async () => {
    const { model } = await connectModel(type, [{ events: (files['text'] ?? []).slice(0, -2), then: 'tear' }]);
    const texts: string[] = [];
    const broken = (async () => {
      for await (const event of model.stream(requestOf([user('Go.')])))
        if (event.type === 'text') texts.push(event.text);
    })();
    await expect(broken).rejects.toMatchObject({ name_: 'provider_unavailable', retryable: true });
    expect(TEXT.startsWith(texts.join(''))).toBe(true);
    expect(texts.join('')).toContain('Hello');
  });

  it('[product-provider-conformance] closes the connection of a call that is given up', async () => {
    const { model, provider } = await connectModel(type, [
      { events: (files['text'] ?? []).slice(0, -1), then: 'hang' },
    ]);
    const abort = new AbortController();
    const given = (async () => {
      for await (const event of model.stream(requestOf([user('Go.')], { signal: abort.signal }))) {
        if (event.type === 'text') abort.abort(new Error('enough'));
      }
    })();
    await expect(given).rejects.toThrow('enough');
    expect(await provider.requests[0]?.closed).toEqual({ early: true });
  });

  it('[product-provider-conformance] goes on after calls, with their results under the ids it gave', async () => {
    const { model, provider } = await connectModel(type, ['parallel', 'tool', 'text']);
    const history = [user('Go.')];
    for (let step = 0; step < 2; step++) {
      const { message } = await ask(model, requestOf(history));
      history.push(message, resultsOf(message, step === 0 ? 'contents' : [{ type: 'text', text: 'more' }]));
    }
    expect((await ask(model, requestOf(history))).text).toBe(TEXT);
    expect(provider.refusals).toEqual([]);
    expect(provider.requests).toHaveLength(3);
  });

  it('[product-provider-conformance] is shown images of the user and of results', async () => {
    const { model, provider } = await connectModel(type, ['tool', 'text']);
    const image = { type: 'image', image: 'data:image/png;base64,iVBORw0KGgoAAAA', mediaType: 'image/png' };
    const history = [{ role: 'user' as const, content: [{ type: 'text', text: 'See.' }, image] }];
    const { message } = await ask(model, requestOf(history));
    const results = resultsOf(message, [{ type: 'text', text: 'a picture' }, image]);
    await ask(model, requestOf([...history, message, results]));
    expect(provider.refusals).toEqual([]);
    expect(provider.requests.map(({ text }) => text.split('iVBORw0KGgoAAAA').length - 1)).toEqual([1, 2]);
  });

  it('[product-provider-conformance] mends a history that no provider would take', async () => {
    const { model, provider } = await connectModel(type, ['text']);
    const broken = [
      {
        role: 'assistant' as const,
        content: [{ type: 'tool-call', toolCallId: 'x y\n'.repeat(40), toolName: 'read file', args: {} }],
      },
      user('And?'),
      user('Well?'),
      {
        role: 'tool' as const,
        content: [{ type: 'tool-result', toolCallId: 'nobody', toolName: 'a', result: 'lost' }],
      },
      {
        role: 'assistant' as const,
        content: [
          { type: 'text', text: ' ' },
          { type: 'text', text: 'Hm \ud800.' },
        ],
      },
      user('Go.'),
    ];
    expect((await ask(model, requestOf(broken))).text).toBe(TEXT);
    expect(provider.refusals).toEqual([]);
  });
});
