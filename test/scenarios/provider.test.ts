import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootMessages } from '../support/graph.ts';
import { startHouse } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { Peer } from '../support/peer.ts';
import { transports } from '../support/wire.ts';

/** With this chance a quarter is taken off each wait before another try: 375, 750 and 1,500 ms, which no other timer has. */
const identity = { uuid: () => crypto.randomUUID(), callId: () => `call_${crypto.randomUUID()}`, random: () => 0.5 };

describe('a provider that fails before its first output', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ standing: true, identity });
  });
  afterAll(() => house.close());

  const start = async () => {
    const peer = house.peer();
    await peer.open();
    await peer.run('hi');
    return peer;
  };
  /** Waits until the server waits for `ms`, and lets that pass. */
  const pass = async (ms: number) => {
    await house.clock.untilTimer(ms);
    house.clock.advance(ms);
  };

  it('[R56-retry-before-output] is asked again, whether it answers a status, cuts the connection or reports an overload inside a 200', async () => {
    house.say(
      { status: { code: 503 } },
      { silent: 'at-once' },
      { events: [{ error: { message: 'busy', type: 'overloaded_error' } }] },
      { text: 'here' },
    );
    const peer = await start();
    await pass(375);
    await pass(750);
    await pass(1_500);
    await peer.finish();
    expect([peer.text, peer.fault]).toEqual(['here', undefined]);
    expect(house.requests).toHaveLength(4);
    expect(new Set(house.requests.map(request => request.text)).size).toBe(1);
  });

  it.each([408, 409, 425, 429, 500, 502, 503, 504, 529])(
    '[R56-retry-before-output] P26: a provider is asked again after it answered %i',
    async code => {
      house.say({ status: { code } }, { text: 'here' });
      const peer = await start();
      await pass(375);
      await peer.finish();
      expect([peer.text, peer.fault, house.requests.length]).toEqual(['here', undefined, 2]);
    },
  );

  it('[R56-retry-after-honoured] is left alone for as long as it asks for', async () => {
    house.say({ status: { code: 429, headers: { 'retry-after': '7' } } }, { text: 'thanks' });
    const peer = await start();
    await house.clock.untilTimer(7_000);
    house.clock.advance(6_999);
    expect(house.requests).toHaveLength(1);
    house.clock.advance(1);
    await peer.finish();
    expect(peer.text).toBe('thanks');
    expect(house.requests).toHaveLength(2);
  });

  it('[R56-retry-after-honoured] is not waited for when it asks for more than the cap: the user is told at once', async () => {
    house.say({ status: { code: 429, headers: { 'retry-after': '3600' } } });
    const peer = await (await start()).finish();
    expect(peer.fault).toMatchObject({ code: 'resource_exhausted', additionalInfo: { retry_after_seconds: '3600' } });
    expect(house.requests).toHaveLength(1);
  });

  it.each([400, 401, 404])('is not asked again when it answers %i', async code => {
    house.say({ status: { code } });
    const peer = await (await start()).finish();
    expect(peer.fault?.retryable).toBe(false);
    expect(house.requests).toHaveLength(1);
  });
});

describe('a provider that fails after output', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ standing: true });
  });
  afterAll(() => house.close());

  it.each([
    ['resets the connection', { reset: true as const }],
    ['reports an overload', { error: { message: 'busy', type: 'overloaded_error' } }],
  ])('[R56-no-retry-after-output] is not asked again when it %s, and its text stays shown', async (_how, event) => {
    house.say({ events: [{ text: 'half an ans' }, event] });
    const peer = await house.peer().turn('hi');
    expect(peer.text).toBe('half an ans');
    expect(peer.fault).toMatchObject({ code: 'unavailable', retryable: false });
    expect(house.requests).toHaveLength(1);
    expect(rootMessages(peer.state, peer.blobs).map(message => message.role)).not.toContain('assistant');
  });
});

describe('what a provider sends', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ config: { limits: { providerAttempts: 1 } } });
  });
  afterAll(() => house.close());

  it('[F95-error-bodies-bounded] F95: an error body is read no further than a bound', async () => {
    const body = `${'it went wrong. '.repeat(100)}${'x'.repeat(32 * 1024 * 1024)}`;
    house.say({ status: { code: 400, body } });
    const peer = await house.peer().turn('hi');
    expect(peer.fault?.code).toBe('failed_precondition');
    expect(peer.fault?.detail).toContain('it went wrong.');
    expect(peer.fault!.detail.length).toBeLessThan(10_000);
    expect(JSON.stringify(house.server.log).length).toBeLessThan(50_000);
    expect(await house.requests[0]!.closed).toEqual({ early: true }); // the rest was never taken
  });

  const chunk = (delta: object, finish: string | null = null) =>
    JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] });
  it.each([
    [
      'CRLF line ends',
      `data: ${chunk({ content: 'hello' })}\r\n\r\ndata: ${chunk({}, 'stop')}\r\n\r\ndata: [DONE]\r\n\r\n`,
    ],
    ['no space after data:', `data:${chunk({ content: 'hello' })}\n\ndata:${chunk({}, 'stop')}\n\ndata:[DONE]\n\n`],
    [
      'comments and empty lines',
      `: thinking\n\n\n\n: still\n\ndata: ${chunk({ content: 'hello' })}\n\n: ok\n\ndata: ${chunk({}, 'stop')}\n\ndata: [DONE]\n\n`,
    ],
    [
      'unknown events',
      `event: ping\ndata: {"type":"ping"}\n\nid: 7\nretry: 100\ndata: ${chunk({ content: 'hello' })}\n\ndata: ${chunk({}, 'stop')}\n\ndata: [DONE]\n\n`,
    ],
    [
      'unknown fields',
      `data: {"weather":"fine","choices":[{"index":0,"mood":7,"delta":{"content":"hello","audio":null}}]}\n\ndata: ${chunk({}, 'stop')}\n\ndata: [DONE]\n\n`,
    ],
    ['no [DONE]', `data: ${chunk({ content: 'hello' })}\n\ndata: ${chunk({}, 'stop')}\n\n`],
    ['no empty line at its end', `data: ${chunk({ content: 'hello' })}\n\ndata: ${chunk({}, 'stop')}`],
  ])('[P31-lenient-sse] P31: a stream is understood with %s', async (_what, raw) => {
    house.say({ events: [{ raw }], finish: null, usage: null, done: false });
    const peer = await house.peer().turn('hi');
    expect([peer.text, peer.fault]).toEqual(['hello', undefined]);
  });

  it('[P31-lenient-sse] P31: a stream is understood in pieces that cut its lines', async () => {
    const characters = Array.from(
      `data: ${chunk({ content: 'grüß 😀' })}\n\ndata: ${chunk({}, 'stop')}\n\ndata: [DONE]\n\n`,
    );
    const events = Array.from({ length: Math.ceil(characters.length / 7) }, (_, at) => ({
      raw: characters.slice(at * 7, at * 7 + 7).join(''),
    }));
    house.say({ events, finish: null, usage: null, done: false });
    const peer = await house.peer().turn('hi');
    expect([peer.text, peer.fault]).toEqual(['grüß 😀', undefined]);
  });
});

describe.each(transports)('usage over %s', transport => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport });
  });
  afterAll(() => house.close());

  const READ = { name: 'Read', args: { path: 'a.txt' } };
  const ended = (peer: Peer) => {
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } =
      peer.updates('turnEnded')[0]!;
    return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens };
  };
  const usageOf = async (...usages: (Record<string, unknown> | null)[]) => {
    house.say(
      ...usages.map((usage, at) => (at < usages.length - 1 ? { calls: [READ], usage } : { text: 'done', usage })),
    );
    return ended(await house.peer().turn('hi'));
  };

  it('[§16.3-turn-ended-tokens, R58-cache-beside-input] has all five counts, cached tokens beside the input', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 30,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 15 },
      completion_tokens_details: { reasoning_tokens: 12 },
    };
    expect(await usageOf(usage)).toEqual({
      inputTokens: 25n,
      outputTokens: 30n,
      cacheReadTokens: 60n,
      cacheWriteTokens: 15n,
      reasoningTokens: 12n,
    });
  });

  it('[R58-sum-of-calls] adds up the model calls of a turn, and leaves out what no call reported', async () => {
    const sum = await usageOf({ prompt_tokens: 10, completion_tokens: 1 }, null, {
      prompt_tokens: 30,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 8 },
    });
    expect(sum).toEqual({
      inputTokens: 32n,
      outputTokens: 6n,
      cacheReadTokens: 8n,
      cacheWriteTokens: undefined,
      reasoningTokens: undefined,
    });
    expect(await usageOf(null)).toEqual({
      inputTokens: undefined,
      outputTokens: undefined,
      cacheReadTokens: undefined,
      cacheWriteTokens: undefined,
      reasoningTokens: undefined,
    });
  });

  it('[R59-usage-normalised] F98: usage is the same for providers that count cached tokens inside the input and beside it', async () => {
    const inside = await usageOf({
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 70 },
    });
    const beside = await usageOf({ input_tokens: 30, output_tokens: 20, cache_read_input_tokens: 70 });
    const hit = await usageOf({
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_cache_hit_tokens: 70,
      prompt_cache_miss_tokens: 30,
    });
    expect(inside).toEqual({
      inputTokens: 30n,
      outputTokens: 20n,
      cacheReadTokens: 70n,
      cacheWriteTokens: undefined,
      reasoningTokens: undefined,
    });
    expect(beside).toEqual(inside);
    expect(hit).toEqual(inside);
  });
});
