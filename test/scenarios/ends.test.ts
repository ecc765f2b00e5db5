import { ErrorDetails_Error as Kind } from '@tandem/protocol/aiserver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootMessages } from '../support/graph.ts';
import { startHouse, textsOf, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { Peer } from '../support/peer.ts';
import type { Answer } from '../support/provider.ts';
import { cardsOf, resultOf } from '../support/tool-cards.ts';
import { transports } from '../support/wire.ts';

const READ = { name: 'Read', args: { path: 'a.txt' } };
const notices = (peer: Peer) =>
  peer
    .updates('textDelta')
    .filter(delta => delta.isServerNotice)
    .map(delta => delta.text);
const asked = (peer: Peer) => peer.execs.map(exec => exec.message.case).filter(kind => kind !== 'requestContextArgs');

// The clock of the server stands: whatever ends here waited for no timer.
describe.each(transports)('the end of a run over %s', transport => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport, standing: true });
  });
  afterAll(() => house.close());

  const endsOnce = (peer: Peer) => {
    expect(peer.all('end')).toHaveLength(1);
    expect(peer.frames.at(-1)?.key).toBe('end');
    expect(peer.faults).toEqual([]); // a frame after the end frame would stand here
  };

  // S04, K04, F10
  it('[R53-success-sequence, R53-one-end-stream] is checkpoint, turn_ended and an empty end frame, at once', async () => {
    house.say({ calls: [READ] }, { text: 'done' });
    const peer = await house.peer().turn('read');
    expect(peer.order.slice(-3)).toEqual(['checkpoint', 'update.turnEnded', 'end']);
    expect(peer.fault).toBeUndefined();
    endsOnce(peer);
  });

  it('[R53-cancel-sequence, R53-one-end-stream] is the code canceled without turn_ended when the client cancels, even twice', async () => {
    house.say({ events: [{ text: 'once upon' }, { hang: true }] });
    const peer = house.peer();
    await peer.open();
    await peer.run('tell me');
    await peer.wait('update.textDelta');
    const answers = await Promise.all([peer.cancel(), peer.cancel()]);
    expect(answers.map(answer => answer.status)).toEqual([200, 200]);
    await peer.finish();
    expect(peer.fault).toMatchObject({ code: 'canceled', retryable: false });
    expect(peer.all('update.turnEnded')).toEqual([]);
    endsOnce(peer);
    expect(await house.requests[0]!.closed).toEqual({ early: true });
  });

  it('[R53-failure-sequence, R53-one-end-stream] is an error without turn_ended when the provider fails', async () => {
    house.say({ events: [{ text: 'half' }, { reset: true }] });
    const peer = await house.peer().turn('tell me');
    expect(peer.fault).toMatchObject({ code: 'unavailable', retryable: false });
    expect(peer.all('update.turnEnded')).toEqual([]);
    endsOnce(peer);
  });

  it('[S19-error-within-1s] comes at once when the provider fails, and no timer is waited for', async () => {
    house.say({ status: { code: 400, message: 'no such thing' } });
    const peer = await house.peer().turn('hi');
    expect(peer.fault?.detail).toContain('no such thing');
    house.say({
      events: [{ text: 'half' }, { error: { message: 'out of memory', type: 'server_error' } }, { hang: true }],
    });
    const broken = await house.peer().turn('hi');
    expect(broken.fault?.detail).toContain('out of memory');
    endsOnce(broken);
  });
});

describe('a failure', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ config: { limits: { providerAttempts: 1 } } });
  });
  afterAll(() => house.close());

  const fail = async (answers: Answer[], extra: object = {}) => {
    house.say(...answers);
    const peer = await house.peer().turn('hi', { ...extra });
    return peer.fault;
  };

  it.each<[string, Answer[], object, object]>([
    ['a refused request', [{ status: { code: 400 } }], {}, { code: 'failed_precondition', retryable: false }],
    [
      'an overloaded provider before any output',
      [{ status: { code: 503 } }],
      {},
      { code: 'unavailable', retryable: true },
    ],
    [
      'a provider that breaks off after output',
      [{ events: [{ text: 'x' }, { reset: true }] }],
      {},
      { code: 'unavailable', retryable: false },
    ],
    [
      'an overloaded provider after a tool ran',
      [{ calls: [READ] }, { status: { code: 503 } }],
      {},
      { code: 'unavailable', retryable: false },
    ],
    [
      'an unknown model',
      [],
      { requestedModel: { modelId: 'no-model' } },
      { code: 'invalid_argument', retryable: false },
    ],
    [
      'an action of a later version',
      [],
      { action: { action: { case: 'summarizeAction', value: {} } } },
      { code: 'unimplemented', retryable: false },
    ],
    ['a run without an action', [], { action: {} }, { code: 'invalid_argument', retryable: false }],
    [
      'a resume without a conversation',
      [],
      { action: { action: { case: 'resumeAction', value: {} } } },
      { code: 'invalid_argument', retryable: false },
    ],
    [
      'a state that is no state',
      [],
      { conversationState: { rootPromptMessagesJson: [Buffer.from('{"role":')] } },
      { code: 'invalid_argument', retryable: false },
    ],
  ])(
    '[R54-every-failure-detailed] by %s carries a detail, and may be replayed only while nothing was shown or done',
    async (_by, answers, extra, wanted) => {
      const told = await fail(answers, extra);
      expect(told).toMatchObject(wanted);
      expect(told!.title).toMatch(/\w/);
      expect(told!.detail).toMatch(/\w{3}/);
      expect(told!.error).not.toBe(Kind.UNSPECIFIED);
    },
  );

  // T14, P26
  it.each([500, 502, 503, 504, 529])('[R55-provider-down] of a provider that answers %i is unavailable', async code => {
    expect(await fail([{ status: { code, message: 'busy' } }])).toMatchObject({
      code: 'unavailable',
      error: Kind.PROVIDER_ERROR,
    });
  });

  it('[R55-provider-down] of a provider that tears the connection down is unavailable and names its address', async () => {
    const told = await fail([{ silent: 'at-once' }]);
    expect(told).toMatchObject({ code: 'unavailable', retryable: true });
    expect(told?.detail).toContain(house.provider.baseUrl);
  });

  it('[R55-rate-limit] by a rate limit says how long to wait, in the text and for programs', async () => {
    const told = await fail([{ status: { code: 429, message: 'slow down', headers: { 'retry-after': '42' } } }]);
    expect(told).toMatchObject({
      code: 'resource_exhausted',
      error: Kind.RATE_LIMITED,
      additionalInfo: { retry_after_seconds: '42' },
    });
    expect(told?.detail).toContain('42 seconds');
  });

  it.each([401, 403])(
    "[R55-provider-credentials] by credentials that the provider answers %i is the user's key",
    async code => {
      const told = await fail([{ status: { code, message: 'bad key' } }]);
      expect(told).toMatchObject({ code: 'failed_precondition', error: Kind.BAD_USER_API_KEY, retryable: false });
    },
  );

  it('[R55-unknown-model] by an unknown model names what was asked for and what is near, and asks no provider', async () => {
    const told = await fail([], { requestedModel: { modelId: 'tset-model' } });
    expect(told).toMatchObject({ code: 'invalid_argument', error: Kind.BAD_MODEL_NAME, retryable: false });
    expect(told?.detail).toContain('tset-model');
    expect(told?.detail).toContain('test-model');
    expect(house.requests).toEqual([]);
  });

  it.each<[string, Answer]>([
    ['a status', { status: { code: 400, body: { error: { message: 'too big', code: 'context_length_exceeded' } } } }],
    ['its words', { status: { code: 400, message: "This model's maximum context length is 8192 tokens" } }],
    ['an event', { events: [{ error: { message: 'too big', code: 'context_length_exceeded' } }] }],
  ])('[R55-too-long] C02: a context too long for the model is told by %s', async (_how, answer) => {
    expect(await fail([answer])).toMatchObject({
      code: 'invalid_argument',
      error: Kind.CONVERSATION_TOO_LONG,
      retryable: false,
    });
  });
});

describe('how a model call ends', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  const turn = async (...answers: Answer[]) => {
    house.say(...answers);
    return house.peer().turn('go');
  };
  const bad = (args: string) => ({ calls: [{ name: 'Read', args }] });

  // S09
  it('[R57-stop-with-text] by stop with text ends the turn', async () => {
    const peer = await turn({ text: 'that is it', finish: 'stop' });
    expect([peer.text, peer.fault, house.requests.length]).toEqual(['that is it', undefined, 1]);
  });

  it('[R57-stop-empty] by stop without anything is tried once more, and then is an error', async () => {
    const second = await turn({ finish: 'stop' }, { text: 'now then' });
    expect([second.text, second.fault, house.requests.length]).toEqual(['now then', undefined, 2]);
    expect(house.requests[1]!.body.messages).toEqual(house.requests[0]!.body.messages);
    const never = await turn({ finish: 'stop' }, { finish: 'stop' });
    expect(never.fault).toMatchObject({ code: 'unavailable', title: 'Empty answer' });
    expect(house.requests).toHaveLength(2);
  });

  it.each([
    ['are no JSON', '{"path":"a.txt"', /not valid JSON/],
    ['break the schema', '{"path":7000,"limit":"many"}', /limit/],
  ])(
    '[R57-bad-arguments] with arguments that %s runs nothing and tells the model what is wrong and the schema',
    async (_what, args, says) => {
      const peer = await turn(bad(args), { text: 'sorry' });
      expect(asked(peer)).toEqual([]);
      const [text] = toolTexts(house.requests[1]!.body);
      expect(text).toMatch(/^Error: /);
      expect(text).toMatch(says);
      expect(text).toContain('"required":["path"]');
      expect(resultOf(cardsOf(peer)[0]!)?.case).toBe('error');
      // what stands in the history is valid JSON
      const stored = house.requests[1]!.body.messages.find(message => message.tool_calls)!.tool_calls![0]!.function
        .arguments;
      expect(() => JSON.parse(stored)).not.toThrow();
      expect(peer.text).toBe('sorry');
    },
  );

  it('[R57-bad-arguments] with unusable arguments again and again gives up after the third answer that was told so', async () => {
    const peer = await turn(bad('{'), bad('{'), bad('{'), bad('{'));
    expect(peer.fault?.title).toBe('Unusable tool calls');
    expect(house.requests).toHaveLength(4);
    expect(asked(peer)).toEqual([]);
    for (const card of cardsOf(peer)) expect(card.completed).toHaveLength(1);
    const mended = await turn(bad('{'), bad('{'), bad('{'), { calls: [READ] }, bad('{'), { text: 'at last' });
    expect([mended.text, mended.fault]).toEqual(['at last', undefined]);
  });

  it.each(['', '{}', '  '])('with the arguments %j takes them for {}', async args => {
    const peer = await turn({ calls: [{ name: 'Ls', args }] }, { text: 'so' });
    expect(toolTexts(house.requests[1]!.body)[0]).toMatch(/^Error: Invalid arguments for Ls.*path/s);
    expect(peer.text).toBe('so');
  });

  it('[R57-length-with-calls] by length amid calls runs nothing, says that the output was cut, and goes on once', async () => {
    const cut: Answer = { calls: [READ, { name: 'Write', args: '{"path":"b.txt","contents":"hal' }], finish: 'length' };
    const peer = await turn(cut, { text: 'shorter now' });
    expect(asked(peer)).toEqual([]);
    expect(toolTexts(house.requests[1]!.body)).toEqual([
      expect.stringMatching(/^Error: The output limit/),
      expect.stringMatching(/^Error: The output limit/),
    ]);
    expect([peer.text, peer.fault]).toEqual(['shorter now', undefined]);
    const twice = await turn(cut, cut);
    expect(twice.fault).toBeUndefined();
    expect(notices(twice)[0]).toMatch(/cut by the output limit/);
    expect(asked(twice)).toEqual([]);
    for (const card of cardsOf(twice)) expect(card.completed).toHaveLength(1);
    expect(house.requests).toHaveLength(2);
  });

  it('[R57-length-text] by length with text goes on once from where it stopped, then ends with a notice', async () => {
    const peer = await turn({ text: 'one two', finish: 'length' }, { text: ' three four', finish: 'length' });
    expect(peer.text).toBe('one two three four');
    expect(peer.fault).toBeUndefined();
    expect(notices(peer)).toEqual([expect.stringMatching(/cut by the output limit/)]);
    expect(house.requests).toHaveLength(2);
    expect(textsOf(house.requests[1]!.body, 'assistant')).toEqual(['one two']);
    expect(house.requests[1]!.body.messages.at(-1)?.role).toBe('user');
  });

  it.each<[string, Answer]>([
    ['a content filter', { calls: [READ], finish: 'content_filter' }],
    ['a refusal', { events: [{ call: { name: 'Read', args: '{"path":"a.txt"}' } }, { finish: 'refusal' }] }],
  ])(
    '[R57-refusal] F92: %s runs nothing, is not tried again and ends the turn with a notice',
    async (_what, answer) => {
      const peer = await turn(answer);
      expect(asked(peer)).toEqual([]);
      expect(peer.fault).toBeUndefined();
      expect(notices(peer)).toHaveLength(1);
      expect(house.requests).toHaveLength(1);
      expect(peer.updates('turnEnded')[0]!.outputTokens).toBe(10n);
      for (const card of cardsOf(peer)) expect(card.completed).toHaveLength(1);
    },
  );

  it('[R57-refusal] by a content filter after text leaves the text and needs no notice', async () => {
    const peer = await turn({ text: 'I would rather not.', finish: 'content_filter' });
    expect([peer.text, notices(peer), peer.fault]).toEqual(['I would rather not.', [], undefined]);
  });

  it('[R57-no-reason] without a reason fails the run, and its text is shown but not stored', async () => {
    const peer = await turn({ text: 'and then', finish: null, done: false });
    expect(peer.text).toBe('and then');
    expect(peer.fault).toMatchObject({ code: 'unavailable', title: 'Provider broke off', retryable: false });
    expect(rootMessages(peer.state, peer.blobs).map(message => message.role)).not.toContain('assistant');
    const calls = await turn({ calls: [READ], finish: null, done: false });
    expect(calls.fault?.code).toBe('unavailable');
    expect(asked(calls)).toEqual([]);
  });
});
