import { create, toBinary } from '@bufbuild/protobuf';
import { EnvelopeReader, encodeEnvelope } from '@tandem/protocol';
import { BidiRequestIdSchema, ErrorDetails_Error as Kind } from '@tandem/protocol/aiserver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootMessages } from '../support/graph.ts';
import { startHouse, textsOf, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Answer } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import { cardsOf, resultOf } from '../support/tool-cards.ts';
import { RUN_SSE, fetchWhole, streamHeaders } from '../support/wire.ts';

const THEN = { text: 'done' };
const READ = { name: 'Read', args: { path: 'a.txt' } };
const isFine = (peer: Peer) => expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);
/** With this chance the first wait before another try is 375 ms. */
const identity = {
  uuid: () => crypto.randomUUID(),
  callId: () => `call_${crypto.randomUUID()}`,
  random: () => 0.5,
};
const asked = (peer: Peer) => peer.execs.map(exec => exec.message.case).filter(kind => kind !== 'requestContextArgs');

describe('a provider', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ config: { limits: { providerAttempts: 1 } } });
  });
  afterAll(() => house.close());
  const newest = () => house.requests.at(-1)!;

  it('P07: gets roles that every provider of its kind knows, also for what another client calls developer', async () => {
    house.say({ calls: [READ] }, THEN);
    isFine(await house.peer().turn('hello'));
    const roles = newest().body.messages.map(({ role }) => role);
    expect(roles[0]).toBe('system');
    expect(new Set(roles)).toEqual(new Set(['system', 'user', 'assistant', 'tool']));
    expect(newest().text).not.toContain('developer');
  });

  it('P09: that gives every call the index 0 has made as many calls as it gave ids', async () => {
    house.say(
      {
        events: [
          { call: { id: 'a', name: 'Read', index: 0 } },
          { args: '{"path":"a.', index: 0 },
          { args: 'txt"}', index: 0 },
          { call: { id: 'b', name: 'Read', index: 0 } },
          { args: '{"path":"b.txt"}', index: 0 },
          { call: { id: '', name: 'Read', index: 0, args: '{"path":"c.txt"}' } },
        ],
      },
      THEN,
    );
    const peer = house.peer();
    for (const name of ['a', 'b', 'c']) peer.workspace.files.set(`${name}.txt`, `text of ${name}`);
    isFine(await peer.turn('read'));
    expect(toolTexts(newest().body)).toEqual(['1|text of a', '1|text of b', '1|text of c']);
  });

  it('P11: that interleaves pieces has each of them go to the call of its index', async () => {
    const texts = ['{"path":"a.txt"}', '{"path":"b.txt"}'];
    const events: Answer['events'] = [0, 1].map(index => ({ call: { id: `c${index}`, name: 'Read', index } }));
    for (let at = 0; at < texts[0]!.length; at++)
      for (const index of [0, 1]) events.push({ args: texts[index]!.slice(at, at + 1), index });
    house.say({ events }, THEN);
    const peer = house.peer();
    for (const name of ['a', 'b']) peer.workspace.files.set(`${name}.txt`, `text of ${name}`);
    isFine(await peer.turn('read'));
    expect(
      newest()
        .body.messages.find(({ tool_calls }) => tool_calls)!
        .tool_calls!.map(call => call.function.arguments),
    ).toEqual(texts);
    expect(toolTexts(newest().body)).toEqual(['1|text of a', '1|text of b']);
  });

  it.each(['length', 'tool_calls', 'stop'])(
    'P14: that cuts arguments in the middle and says %s has nothing written, and the model is told',
    async finish => {
      house.say({ calls: [{ name: 'Write', args: '{"path":"b.txt","contents":"half a fi' }], finish }, THEN);
      const peer = await house.peer().turn('write');
      isFine(peer);
      expect([asked(peer), peer.workspace.files.has('b.txt')]).toEqual([[], false]);
      expect(toolTexts(newest().body)[0]).toMatch(/^Error: .*(output limit|not valid JSON)/s);
      expect(resultOf(cardsOf(peer)[0]!)?.case).toBe('error');
    },
  );

  it('P14: whose arguments are whole but whose answer was cut has none of its calls run', async () => {
    house.say({ calls: [READ, { name: 'Write', args: { path: 'b.txt', contents: 'x' } }], finish: 'length' }, THEN);
    const peer = await house.peer().turn('write');
    isFine(peer);
    expect([asked(peer), peer.workspace.done]).toEqual([[], []]);
  });

  it('P27: that is overloaded inside a 200 is asked again while nothing was shown, and else fails with what was shown', async () => {
    const patient = await startHouse({ standing: true, identity });
    const overloaded = { error: { message: 'Overloaded', type: 'overloaded_error' } };
    patient.say({ events: [overloaded] }, THEN);
    const early = patient.peer();
    await early.open();
    await early.run('hi');
    await patient.clock.untilTimer(375);
    patient.clock.advance(375);
    isFine(await early.finish());
    expect(patient.requests).toHaveLength(2);
    patient.say({ events: [{ text: 'half an ' }, overloaded] });
    const late = await patient.peer().turn('hi');
    expect(late.text).toBe('half an ');
    expect(late.fault).toMatchObject({ code: 'unavailable', retryable: false });
    expect(late.fault!.detail).toContain('Overloaded');
    expect(patient.requests).toHaveLength(1);
    await patient.close();
  });

  it('F86: gets the fields of chat completions that every one of its kind accepts, and no other', async () => {
    house.say({ reasoning: 'I think.', calls: [READ] }, THEN);
    isFine(
      await house.peer().turn('hello', {
        requestedModel: {
          modelId: 'test-model',
          parameters: [
            { id: 'effort', value: 'high' },
            { id: 'thinking_budget', value: '7' },
          ],
        },
      }),
    );
    const known = ['model', 'messages', 'stream', 'stream_options', 'tools', 'max_tokens', 'reasoning_effort'];
    expect(Object.keys(newest().body).filter(key => !known.includes(key))).toEqual([]);
    const fields: Record<string, string[]> = {
      system: ['role', 'content'],
      user: ['role', 'content'],
      assistant: ['role', 'content', 'tool_calls', 'reasoning_content'],
      tool: ['role', 'content', 'tool_call_id'],
    };
    for (const message of newest().body.messages)
      expect(Object.keys(message).filter(key => !fields[message.role]!.includes(key))).toEqual([]);
    for (const tool of newest().body.tools!) {
      expect(Object.keys(tool)).toEqual(['type', 'function']);
      expect(Object.keys(tool.function).sort()).toEqual(['description', 'name', 'parameters']);
    }
  });

  it('F88: that fails is told of with its words, its status and the request id, without a secret', async () => {
    house.say({
      status: {
        code: 422,
        message: 'Key provider-key-do-not-leak may not use it, nor Bearer abcdefgh12345678',
        headers: { 'x-request-id': 'req_of_provider' },
      },
    });
    const peer = await house.peer().turn('hi');
    const { detail } = peer.fault!;
    expect(detail).toContain('may not use it');
    expect(detail).toContain('422');
    for (const secret of ['provider-key-do-not-leak', 'abcdefgh12345678'])
      expect(JSON.stringify(peer.fault)).not.toContain(secret);
    expect(detail).toContain('req_of_provider');
    expect(peer.fault!.error).not.toBe(Kind.UNSPECIFIED);
    // our own id of the request is shown by the client, which knows it
    const raw = house.peer({ model: 'no-such-model' });
    await raw.run('hi');
    const answer = await fetchWhole({
      url: raw.url,
      path: RUN_SSE,
      headers: streamHeaders(),
      body: encodeEnvelope(toBinary(BidiRequestIdSchema, create(BidiRequestIdSchema, { requestId: raw.requestId }))),
    });
    const { payload } = new EnvelopeReader({ maxBytes: 1_000_000 }).push(answer.body).at(-1)!;
    const [told] = JSON.parse(Buffer.from(payload).toString()).error.details;
    expect(told.debug.details).toMatchObject({ showRequestId: true });
  });

  it('F89: a failure may be replayed only while nothing was shown and nothing was done', async () => {
    const down: Answer = { status: { code: 503 } };
    const retryable = async (...answers: Answer[]) => {
      house.say(...answers);
      const { fault } = await house.peer().turn('hi');
      return fault?.retryable;
    };
    expect(await retryable(down)).toBe(true);
    expect(await retryable({ events: [{ text: 'x' }, { reset: true }] })).toBe(false);
    expect(await retryable({ events: [{ reasoning: 'x' }, { reset: true }] })).toBe(false);
    expect(await retryable({ events: [{ call: { name: 'Read', args: '{"pa' } }, { reset: true }] })).toBe(false);
    expect(await retryable({ calls: [READ] }, down)).toBe(false);
    expect(await retryable({ status: { code: 429, headers: { 'retry-after': '3600' } } })).toBe(false);
    expect(await retryable({ status: { code: 400 } })).toBe(false);
  });

  it('F91: that breaks off has its text shown once, also when the turn is tried again', async () => {
    house.say({ events: [{ text: 'It was a dark and ' }, { reset: true }] });
    const first = await house.peer().turn('tell me');
    expect([first.text, first.fault?.retryable]).toEqual(['It was a dark and ', false]);
    expect(house.requests).toHaveLength(1);
    house.say({ text: 'It was a dark and stormy night.' });
    const again = first.next();
    await again.open();
    await again.resume(first.state);
    await again.finish();
    expect(again.text).toBe('It was a dark and stormy night.');
    const answers = rootMessages(again.state, again.blobs).filter(({ role }) => role === 'assistant');
    expect(answers.map(({ content }) => content)).toMatchObject([[{ text: 'It was a dark and stormy night.' }]]);
    expect(textsOf(newest().body, 'assistant')).toEqual([]);
  });

  it('F94: that fails leaves its error in the end frame, not in the text, the history or the next request', async () => {
    house.say(
      { calls: [READ] },
      { events: [{ text: 'so far' }, { error: { message: 'the machine burned down', type: 'server_error' } }] },
    );
    const broken = await house.peer().turn('hi');
    expect(broken.fault?.detail).toContain('the machine burned down');
    expect(broken.text).toBe('so far');
    for (const data of broken.blobs.values()) expect(Buffer.from(data).includes('burned')).toBe(false);
    house.say(THEN);
    isFine(await broken.next().turn('and now?', { conversationState: broken.state }));
    expect(newest().text).not.toContain('burned');
    expect(
      newest()
        .body.messages.map(({ role }) => role)
        .slice(-4),
    ).toEqual(['user', 'assistant', 'tool', 'user']);
  });
});

describe('a model', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());
  const choose = async (modelId: string, parameters: object[] = []) => {
    house.say(THEN);
    const peer = await house.peer().turn('hi', { requestedModel: { modelId, parameters } });
    const body = house.requests[0]?.body;
    return { peer, model: body?.model, effort: body?.['reasoning_effort'] };
  };

  it('F73: shows the window that is configured for it, in every checkpoint and to whoever lists models', async () => {
    for (const [model, window] of [
      ['test-model', 200_000],
      ['blind-model', 40_000],
    ] as const) {
      const { peer } = await choose(model);
      isFine(peer);
      expect(new Set(peer.checkpoints.map(({ state }) => state.tokenDetails!.maxTokens))).toEqual(new Set([window]));
    }
    const large = await startTestServer({
      config: {
        providers: {
          own: {
            type: 'openai-compatible',
            baseUrl: house.provider.baseUrl,
            models: [{ id: 'vast', contextWindow: 1_000_000 }],
          },
        },
      },
    });
    house.say({ text: 'done', usage: { prompt_tokens: 300_000, completion_tokens: 10 } });
    const peer = await house.peer({ url: large.url, model: 'vast' }).turn('hi');
    isFine(peer);
    expect(peer.state.tokenDetails).toMatchObject({ usedTokens: 300_010, maxTokens: 1_000_000 });
    await large.close();
  });

  it('F97: of a variant string is the id before the brackets, whatever stands in them', async () => {
    expect(await choose('test-model[effort=high]')).toMatchObject({ model: 'test-model', effort: 'high' });
    expect(await choose('test-model[effort=high,fast=false]')).toMatchObject({ model: 'test-model', effort: 'high' });
    expect(await choose('test-model[ fast , effort = low ]')).toMatchObject({ model: 'test-model', effort: 'low' });
    expect(await choose('test-model[]')).toMatchObject({ model: 'test-model', effort: undefined });
    const bracketed = await startProvider({ answers: () => THEN });
    const server = await startTestServer({
      config: {
        providers: {
          own: { type: 'openai-compatible', baseUrl: bracketed.baseUrl, models: [{ id: 'odd[v=1]' }, { id: 'odd' }] },
        },
      },
    });
    // an id that looks like a variant is an id, and reaches the provider as it stands
    isFine(await house.peer({ url: server.url, model: 'odd[v=1]' }).turn('hi'));
    expect(bracketed.requests.at(-1)!.body.model).toBe('odd[v=1]');
    isFine(await house.peer({ url: server.url, model: 'odd[v=2]' }).turn('hi'));
    expect(bracketed.requests.at(-1)!.body.model).toBe('odd');
    await server.close();
    await bracketed.close();
  });

  it.each([
    'test-model-2',
    'my-test-model',
    'test',
    'test-mode',
    'TEST-MODEL-OF-OTHERS',
    'scripted',
    'test-model/x',
    'other/test-model',
  ])('F100: is not %s, which only has a part of its id', async modelId => {
    const { peer } = await choose(modelId);
    expect(peer.fault).toMatchObject({ code: 'invalid_argument', error: Kind.BAD_MODEL_NAME });
    expect(peer.fault!.detail).toContain(JSON.stringify(modelId));
    expect(house.requests).toEqual([]);
  });
});
