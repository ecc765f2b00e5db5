import type { Fault } from '@tandem/protocol';
import type { ModelMessage } from '@tandem/protocol/message';
import { afterEach, describe, expect, test } from 'vitest';
import type { Answer, Provider, ProviderOptions } from '../../../../../test/support/provider.ts';
import { startProvider } from '../../../../../test/support/provider.ts';
import { originOptions } from '../origin.ts';
import type { ModelEvent, ModelInfo, ModelRequest, ToolDefinition } from '../port.ts';
import { NO_QUIRKS } from '../quirks.ts';
import type { WireModelSettings } from '../wire-model.ts';
import { createWireModel } from '../wire-model.ts';
import { chatWire } from './chat.ts';

const KEY = 'sk-live-1234567890abcdef';
const INFO: ModelInfo = {
  key: 'fake/m',
  provider: 'fake',
  id: 'm',
  name: 'M',
  contextWindow: 1000,
  maxOutput: 100,
  vision: true,
  aliases: [],
  parameters: [],
};
const READ: ToolDefinition = {
  name: 'Read',
  description: 'Reads',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
};

let provider: Provider;
afterEach(() => provider.close());

const start = async (answers: ProviderOptions['answers']) => (provider = await startProvider({ answers }));
const modelWith = (settings: Partial<WireModelSettings> = {}) =>
  createWireModel({
    info: INFO,
    loadWire: () => Promise.resolve(chatWire),
    baseUrl: provider.baseUrl,
    headers: { authorization: `Bearer ${KEY}` },
    secrets: [KEY],
    quirks: NO_QUIRKS,
    ...settings,
  });
const requestOf = (request: Partial<ModelRequest> = {}): ModelRequest => ({
  messages: [{ role: 'user', content: 'hi' }],
  tools: [READ],
  parameters: {},
  signal: new AbortController().signal,
  ...request,
});

async function collect(request: Partial<ModelRequest> = {}, settings: Partial<WireModelSettings> = {}) {
  const events: ModelEvent[] = [];
  try {
    for await (const event of modelWith(settings).stream(requestOf(request))) events.push(event);
  } catch (error) {
    return { events, fault: error as Fault };
  }
  return { events, fault: undefined };
}

/** The events of one answer, with what the provider wrote as raw stream text. */
async function eventsOfRaw(...raw: string[]) {
  await start([{ events: raw.map(text => ({ raw: text })), finish: null, usage: null, done: false }]);
  return collect();
}
const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (value: object, finish_reason: string | null = null) =>
  data({ choices: [{ index: 0, delta: value, finish_reason }] });
const callsIn = (events: ModelEvent[]) =>
  events.filter(event => event.type === 'tool-call').map(event => [event.providerId, event.name, event.args]);
const textIn = (events: ModelEvent[]) => events.map(event => (event.type === 'text' ? event.text : '')).join('');

describe('an answer', () => {
  test('comes as reasoning, text, calls and one finish with normalised usage', async () => {
    await start('read-then-answer');
    const { events } = await collect();
    const origin = originOptions('fake/m', 'call_0_0');
    expect(events).toEqual([
      { type: 'reasoning', text: 'I look ' },
      { type: 'reasoning', text: 'first.' },
      { type: 'reasoning-end', providerOptions: originOptions('fake/m') },
      { type: 'text', text: 'I read a.txt.' },
      { type: 'tool-start', key: '0', providerId: 'call_0_0', name: 'Read' },
      { type: 'tool-args', key: '0', text: '{"path":' },
      { type: 'tool-args', key: '0', text: '"a.txt"}' },
      {
        type: 'tool-call',
        key: '0',
        providerId: 'call_0_0',
        name: 'Read',
        args: '{"path":"a.txt"}',
        providerOptions: origin,
      },
      {
        type: 'finish',
        reason: 'tool-calls',
        usage: { inputTokens: 80, outputTokens: 10, cacheReadTokens: 20, reasoningTokens: 3 },
      },
    ]);
  });

  test('with parallel calls under one index, with ids or without, gives one event each [P09]', async () => {
    const { events } = await eventsOfRaw(
      delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'Read', arguments: '' } }] }),
      delta({ tool_calls: [{ index: 0, id: 'b', function: { name: 'Read', arguments: '' } }] }),
      delta({ tool_calls: [{ index: 0, id: 'a', function: { arguments: '{"path":"1"}' } }] }),
      delta({ tool_calls: [{ index: 0, id: 'b', function: { arguments: '{"path":"2"}' } }] }, 'tool_calls'),
    );
    expect(callsIn(events)).toEqual([
      ['a', 'Read', '{"path":"1"}'],
      ['b', 'Read', '{"path":"2"}'],
    ]);
  });

  test('with empty, repeated or strange call ids keeps them as they are, under keys that differ', async () => {
    const ids = ['', '', 'a\nb', 'a\nb', '1:2'];
    await start([{ calls: ids.map(id => ({ id, name: 'Read', args: {} })) }]);
    const { events } = await collect();
    expect(callsIn(events).map(([id]) => id)).toEqual(ids);
    expect(new Set(events.filter(event => event.type === 'tool-start').map(event => event.key)).size).toBe(5);
  });

  test.each([
    ['cut by length', { calls: [{ name: 'Read', args: '{"path":"a' }], finish: 'length' }, 'length', '{"path":"a'],
    ['that are no JSON', { calls: [{ name: 'Read', args: '{"path": oops' }] }, 'tool-calls', '{"path": oops'],
    ['that are empty', { calls: [{ name: 'Read', args: '' }] }, 'tool-calls', ''],
    ['under the reason stop', { calls: [{ name: 'Read', args: '{}' }], finish: 'stop' }, 'tool-calls', '{}'],
    ['without a reason', { calls: [{ name: 'Read', args: '{}' }], finish: null }, 'missing', '{}'],
  ] satisfies [string, Answer, string, string][])(
    'with arguments %s gives them raw, with the reason',
    async (_, answer, reason, args) => {
      await start([answer]);
      const { events } = await collect();
      expect(callsIn(events)[0]?.[2]).toBe(args);
      expect(events.at(-1)).toMatchObject({ type: 'finish', reason });
    },
  );

  test.each([
    ['stop', 'stop'],
    ['content_filter', 'content-filter'],
    ['max_tokens', 'length'],
    ['model_length', 'length'],
    ['safety', 'content-filter'],
    ['refusal', 'refusal'],
    ['eos', 'stop'],
    ['constructor', 'stop'],
  ])('that ends with %s has the reason %s', async (finish, reason) => {
    await start([{ text: 'x', finish }]);
    expect((await collect()).events.at(-1)).toMatchObject({ reason });
  });

  test('that is a refusal says so and shows it', async () => {
    const { events } = await eventsOfRaw(delta({ refusal: 'I will not.' }), delta({}, 'stop'));
    expect(textIn(events)).toBe('I will not.');
    expect(events.at(-1)).toMatchObject({ reason: 'refusal', usage: {} });
  });

  test('is read through vendor events, comments, CRLF, missing spaces and a missing end [P31]', async () => {
    const { events, fault } = await eventsOfRaw(
      ': PROCESSING\r\n\r\n',
      'event: ping\r\ndata: {"type":"ping"}\r\n\r\n',
      'data:{"choices":[{"index":0,"delta":{"role":"tool-ish","content":"one "},"finish_reason":null,"extra":1}],"vendor":{}}\r\n\r\n',
      'data: not json at all\n\n',
      `${delta({ content: 'two' })}id: 9\ndata: {"choices":[]}\n\n`,
      'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"total_tokens":"?"}}',
    );
    expect(fault).toBeUndefined();
    expect(textIn(events)).toBe('one two');
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop', usage: { inputTokens: 3 } });
  });

  test('of a server that ignores streaming is read whole', async () => {
    const message = {
      role: 'assistant',
      content: 'all at once',
      tool_calls: [{ id: 'a', function: { name: 'Read', arguments: '{}' } }],
    };
    const body = {
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 4, completion_tokens: 2 },
    };
    await start([{ status: { code: 200, body } }]);
    const { events } = await collect();
    expect(textIn(events)).toBe('all at once');
    expect(callsIn(events)).toEqual([['a', 'Read', '{}']]);
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'tool-calls', usage: { inputTokens: 4, outputTokens: 2 } });
  });

  test('ends at [DONE], though the provider keeps the connection open', async () => {
    await start([{ events: [{ text: 'x' }, { finish: 'stop' }, { raw: 'data: [DONE]\n\n' }, { hang: true }] }]);
    expect((await collect()).events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
    expect(await provider.requests[0]!.closed).toEqual({ early: true });
  });

  test('shows an emoji that the provider cut in two as one piece [R26]', async () => {
    const { events } = await eventsOfRaw(
      delta({ content: 'X' }).replace('X', 'go \\ud83d'),
      delta({ content: 'X' }).replace('X', '\\ude00!'),
      delta({ content: 'X' }, 'stop').replace('X', 'end \\ud83d'),
    );
    expect(events.filter(event => event.type === 'text').map(event => event.text)).toEqual([
      'go ',
      '😀!',
      'end ',
      '\ufffd',
    ]);
  });
});

describe('a failure', () => {
  const failing = async (answer: Answer) => {
    await start([answer]);
    return collect();
  };

  test.each([
    [401, 'provider_credentials', false],
    [403, 'provider_credentials', false],
    [404, 'provider_refused_request', false],
    [400, 'provider_refused_request', false],
    [408, 'provider_unavailable', true],
    [409, 'provider_unavailable', true],
    [425, 'provider_unavailable', true],
    [429, 'provider_rate_limited', true],
    [500, 'provider_unavailable', true],
    [503, 'provider_unavailable', true],
    [529, 'provider_unavailable', true],
  ])('with status %i is %s, another try helps: %s [R55, R56]', async (code, name, retryable) => {
    const { fault } = await failing({ status: { code, message: 'own words' } });
    expect(fault).toMatchObject({ name_: name, retryable });
    expect(fault!.detail).toContain(`fake answered ${code} for the model m: own words`);
  });

  test.each([
    "This model's maximum context length is 8192 tokens.",
    'prompt is too long: 212345 tokens > 200000 maximum',
    'the request exceeds the available context size, try increasing it',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  ])('that says "%s" is a conversation that is too long', async message => {
    const { fault } = await failing({ status: { code: 400, message } });
    expect(fault).toMatchObject({ name_: 'conversation_too_long', retryable: false });
  });

  test('of a used-up quota is not worth another try', async () => {
    const error = { message: 'You exceeded your current quota.', code: 'insufficient_quota' };
    expect((await failing({ status: { code: 429, body: { error } } })).fault).toMatchObject({
      name_: 'provider_rate_limited',
      retryable: false,
    });
  });

  test('inside a 200 is what its event means [P27]', async () => {
    const { fault, events } = await failing({
      events: [{ error: { message: 'Overloaded', type: 'overloaded_error' } }],
    });
    expect(events).toEqual([]);
    expect(fault).toMatchObject({ name_: 'provider_unavailable', retryable: true });
    expect(fault!.detail).toContain('Overloaded');
    const limited = await failing({ events: [{ error: { message: 'slow down', code: 429 } }] });
    expect(limited.fault).toMatchObject({ name_: 'provider_rate_limited' });
    const long = await failing({ events: [{ error: { message: 'no', code: 'context_length_exceeded' } }] });
    expect(long.fault).toMatchObject({ name_: 'conversation_too_long' });
  });

  test('in the middle loses nothing of what came before it', async () => {
    const text = Array.from({ length: 200 }, (_, at) => `${at} `);
    const { events, fault } = await failing({ text, events: [{ reset: true }] });
    expect(textIn(events)).toBe(text.join(''));
    expect(fault).toMatchObject({ name_: 'provider_unavailable', code: 'unavailable', retryable: true });
  });

  test('to be a model endpoint at all is told', async () => {
    const page = {
      code: 200,
      body: '<html><script>x()</script><h1>Log in</h1></html>',
      headers: { 'content-type': 'text/html' },
    };
    const { fault } = await failing({ status: page });
    expect(fault).toMatchObject({ name_: 'provider_refused_request', retryable: false });
    expect(fault!.detail).toMatch(/baseUrl is likely wrong\. Log in$/);
  });

  test('to connect names the address', async () => {
    await start([]);
    const { fault } = await collect({}, { baseUrl: 'http://127.0.0.1:1/v1' });
    expect(fault).toMatchObject({ name_: 'provider_unavailable', retryable: true });
    expect(fault!.detail).toContain('http://127.0.0.1:1/v1');
  });

  test('never shows the key, whatever the provider says, and is cut', async () => {
    const message = `Incorrect key ${KEY} or sk-other_0123456789, Authorization: Bearer abc.def ${'x'.repeat(100_000)}`;
    const { fault } = await failing({ status: { code: 401, message } });
    expect(fault!.detail).not.toMatch(/1234567890abcdef|sk-other|abc\.def/);
    expect(fault!.detail).toContain('[redacted]');
    expect(fault!.detail.length).toBeLessThan(9_000);
  });

  test('whose body never ends is read no further than its first part', async () => {
    await start([{ status: { code: 500, body: `<html>${'filler '.repeat(100_000)}</html>` } }]);
    const { fault } = await collect();
    expect(fault!.detail.length).toBeLessThan(9_000);
  });
});

describe('a request', () => {
  test('has no tools key without tools, a schema that is an object, and the key as bearer [P17, P19]', async () => {
    await start([{ text: 'a' }, { text: 'b' }]);
    await collect({ tools: [] });
    await collect({ tools: [{ name: 'T', description: 'd', parameters: {} }] });
    expect(provider.requests[0]!.body).not.toHaveProperty('tools');
    expect(provider.requests[0]!.body).toMatchObject({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(provider.requests[0]!.body).not.toHaveProperty('max_tokens');
    expect(provider.requests[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(provider.requests[1]!.body.tools?.[0]?.function.parameters).toEqual({ type: 'object', properties: {} });
  });

  test('asks for the chosen effort, other parameters as they are, and the longest answer', async () => {
    await start([{ text: 'a' }]);
    await collect({ parameters: { effort: 'high', verbosity: 'low', search: 'true' } }, { maxOutput: 77 });
    expect(provider.requests[0]!.body).toMatchObject({
      reasoning_effort: 'high',
      verbosity: 'low',
      search: true,
      max_tokens: 77,
    });
  });

  test('begins with the messages of the request before it, byte for byte [R47]', async () => {
    await start(() => ({ text: 'ok' }));
    const history: ModelMessage[] = [{ role: 'system', content: 'You are a test.' }];
    const add = async (...messages: ModelMessage[]) => {
      history.push(...messages);
      await collect({ messages: [...history] });
    };
    const call = (id: string): ModelMessage => ({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: `think ${id}`, providerOptions: originOptions('fake/m') },
        {
          type: 'tool-call',
          toolCallId: id,
          toolName: 'Read',
          args: { z: 1, a: [id] },
          providerOptions: originOptions('fake/m', `p-${id}`),
        },
      ],
    });
    const result = (id: string, value: unknown): ModelMessage => ({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: id, toolName: 'Read', result: value }],
    });
    await add({ role: 'user', content: 'one' });
    await add(call('1'), result('1', 'text'));
    await add(call('2'), result('2', [{ type: 'image', image: 'iVBORw0KGgo=', mediaType: 'image/png' }]));
    await add({ role: 'assistant', content: 'done' }, { role: 'user', content: 'two' });
    await add(call('3'), { role: 'user', content: 'never mind' });
    await add({ role: 'assistant', content: 'fine' }, result('gone', 'late'), { role: 'user', content: 'three' });
    const sent = provider.requests.map(request => JSON.stringify(request.body.messages));
    for (const [at, messages] of sent.entries()) {
      if (at > 0) expect(messages.startsWith(sent[at - 1]!.slice(0, -1))).toBe(true);
    }
    expect(provider.requests[1]!.body.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'think 1',
        tool_calls: [{ id: 'p-1', type: 'function', function: { name: 'Read', arguments: '{"z":1,"a":["1"]}' } }],
      },
      { role: 'tool', tool_call_id: 'p-1', content: 'text' },
    ]);
    expect(provider.requests[2]!.body.messages.at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'The image of the Read result:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
      ],
    });
  });

  test('whose reasoning the provider refuses is asked once more without it [P02]', async () => {
    const refused = { status: { code: 422, message: 'Extra inputs are not permitted: messages.1.reasoning_content' } };
    await start([refused, { text: 'ok' }]);
    const thought = { type: 'reasoning', text: 'hm', providerOptions: originOptions('fake/m') };
    const messages: ModelMessage[] = [
      { role: 'assistant', content: [thought, { type: 'text', text: 'so' }] },
      { role: 'user', content: 'on' },
    ];
    expect(textIn((await collect({ messages })).events)).toBe('ok');
    expect(provider.requests.map(({ body }) => body.messages[0])).toEqual([
      { role: 'assistant', content: 'so', reasoning_content: 'hm' },
      { role: 'assistant', content: 'so' },
    ]);
  });

  test('is given up at the provider when the caller aborts or stops listening', async () => {
    await start(() => ({ text: 'x', events: [{ hang: true }] }));
    const abort = new AbortController();
    const reason = new Error('the run was cancelled');
    const collected = (async () => {
      for await (const event of modelWith().stream(requestOf({ signal: abort.signal })))
        if (event.type === 'text') abort.abort(reason);
    })();
    await expect(collected).rejects.toBe(reason);
    expect(await provider.requests[0]!.closed).toEqual({ early: true });
    for await (const event of modelWith().stream(requestOf())) if (event.type === 'text') break;
    expect(await provider.requests[1]!.closed).toEqual({ early: true });
  });

  test('that was aborted before it began reaches nobody', async () => {
    await start([]);
    const reason = new Error('gone');
    expect((await collect({ signal: AbortSignal.abort(reason) })).fault).toBe(reason);
    expect(provider.requests).toHaveLength(0);
  });

  test('tells of every sign of life, comments included', async () => {
    await start([
      { events: [{ raw: ': one\n\n' }, { gate: 'second' }, { raw: ': two\n\n' }, { gate: 'alive' }, { text: 'x' }] },
    ]);
    let signs = 0;
    const reached = Promise.withResolvers<void>();
    const done = collect({ onActivity: () => (++signs === 1 ? provider.open('second') : reached.resolve()) });
    await reached.promise; // the comments, before any event
    provider.open('alive');
    expect(textIn((await done).events)).toBe('x');
  });
});
