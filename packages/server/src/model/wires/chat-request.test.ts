import type { ModelMessage } from '@tandem/protocol/message';
import { describe, expect, test } from 'vitest';
import { originOptions } from '../origin.ts';
import type { ModelInfo } from '../port.ts';
import { NO_QUIRKS } from '../quirks.ts';
import { writeChatBody } from './chat-request.ts';
import type { WireTarget } from './wire.ts';

interface Sent {
  role: string;
  content: unknown;
  tool_calls?: { id: string; function: { name: string } }[];
  tool_call_id?: string;
  [field: string]: unknown;
}

const INFO: ModelInfo = {
  key: 'p/m',
  provider: 'p',
  id: 'm',
  name: 'M',
  contextWindow: 1000,
  maxOutput: 100,
  vision: true,
  aliases: [],
  parameters: [],
};
const SEEING: WireTarget = { info: INFO, maxOutput: undefined, quirks: NO_QUIRKS, withoutReasoning: false };
const BLIND: WireTarget = { ...SEEING, info: { ...INFO, vision: false } };
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk';

const callsOf = (model: string, ...ids: [own: string, provider: string][]): ModelMessage => ({
  role: 'assistant',
  content: ids.map(([toolCallId, providerId]) => ({
    type: 'tool-call',
    toolCallId,
    toolName: 'Read',
    args: {},
    providerOptions: originOptions(model, providerId),
  })),
});
const resultOf = (toolCallId: string, result: unknown, isError = false): ModelMessage => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId, toolName: 'Read', result, isError }],
});
const sent = (messages: ModelMessage[], target = SEEING) => {
  const request = { messages, tools: [], parameters: {}, signal: new AbortController().signal };
  return writeChatBody(request, target)['messages'] as Sent[];
};
const idsIn = (messages: ModelMessage[]) =>
  sent(messages).flatMap(({ tool_calls: calls, tool_call_id: id }) => calls?.map(call => call.id) ?? id ?? []);

describe('call ids', () => {
  test('are the own ones of the provider that is asked [R24]', () => {
    expect(idsIn([callsOf('p/m', ['call_1', 'functions.Read:0']), resultOf('call_1', 'x')])).toEqual([
      'functions.Read:0',
      'functions.Read:0',
    ]);
    const long = 'x'.repeat(200);
    expect(idsIn([callsOf('p/m', ['call_1', long]), resultOf('call_1', 'x')])).toEqual([long, long]);
  });

  test('are ours for another model, for an empty id and for one used twice in a message', () => {
    expect(idsIn([callsOf('p/other', ['call_1', 'theirs']), resultOf('call_1', 'x')])).toEqual(['call_1', 'call_1']);
    expect(idsIn([callsOf('p/m', ['call_1', '']), resultOf('call_1', 'x')])).toEqual(['call_1', 'call_1']);
    expect(
      idsIn([callsOf('p/m', ['call_1', 'same'], ['call_2', 'same']), resultOf('call_1', 'x'), resultOf('call_2', 'y')]),
    ).toEqual(['call_1', 'call_2', 'call_1', 'call_2']);
  });

  test('of others that no provider takes are replaced by stable ones, and so are names', () => {
    const foreign = (toolCallId: string): ModelMessage[] => [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName: 'functions.Read file', args: {} }] },
      resultOf(toolCallId, 'x'),
    ];
    const [call, result] = idsIn(foreign('call_1\nfc_2'));
    expect(call).toMatch(/^call_[0-9a-f]{32}$/);
    expect(result).toBe(call);
    expect(idsIn(foreign('x'.repeat(65)))[0]).not.toBe(call);
    expect(sent(foreign('a'))[0]?.tool_calls?.[0]?.function.name).toBe('functions_Read_file');
  });

  test('may repeat from one message to the next, as the provider wrote them', () => {
    const messages = [
      callsOf('p/m', ['call_1', '0']),
      resultOf('call_1', 'x'),
      callsOf('p/m', ['call_2', '0']),
      resultOf('call_2', 'y'),
    ];
    expect(idsIn(messages)).toEqual(['0', '0', '0', '0']);
  });
});

describe('reasoning', () => {
  const thought = (model: string): ModelMessage => ({
    role: 'assistant',
    content: [
      { type: 'reasoning', text: ' hm\n', providerOptions: originOptions(model) },
      { type: 'text', text: 'so' },
    ],
  });

  test('goes back word for word to the model that wrote it, and to no other [P06, F80]', () => {
    expect(sent([thought('p/m')])).toEqual([{ role: 'assistant', content: 'so', reasoning_content: ' hm\n' }]);
    expect(sent([thought('q/m')])).toEqual([{ role: 'assistant', content: 'so' }]);
    expect(sent([thought('p/m')], { ...SEEING, withoutReasoning: true })).toEqual([
      { role: 'assistant', content: 'so' },
    ]);
  });

  test('is sent as empty with calls that came without it, once this model has reasoned', () => {
    const call = callsOf('p/m', ['call_1', 'a']);
    expect(sent([call])[0]).not.toHaveProperty('reasoning_content');
    expect(sent([thought('p/m'), call])[1]).toMatchObject({ content: null, reasoning_content: '' });
    expect(sent([thought('q/m'), call])[1]).not.toHaveProperty('reasoning_content');
  });

  test('that a provider does not take back leaves no empty message, and the one that stands before the user stays', () => {
    const target = { ...SEEING, quirks: { ...NO_QUIRKS, reasoningReplay: 'none', assistantAfterTool: true } as const };
    const alone: ModelMessage = {
      role: 'assistant',
      content: [{ type: 'reasoning', text: 'hm', providerOptions: originOptions('p/m') }],
    };
    const history = [callsOf('p/m', ['call_1', 'a']), resultOf('call_1', 'x'), alone];
    const messages = sent([...history, { role: 'user', content: 'on' }], target);
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant', 'user']);
    expect(messages[2]?.content).not.toBe('');
    expect(sent(history, target).map(({ role }) => role)).toEqual(['assistant', 'tool']);
  });

  test('signed by Google goes back with its call, to the model that gave it', () => {
    const signed = (model: string): ModelMessage => ({
      role: 'assistant',
      content: [
        {
          type: 'tool-call',
          toolCallId: 'call_1',
          toolName: 'Read',
          args: {},
          providerOptions: { ...originOptions(model, 'a'), google: { thoughtSignature: 'SIGNED' } },
        },
      ],
    });
    expect(sent([signed('p/m')])[0]?.tool_calls?.[0]).toMatchObject({
      extra_content: { google: { thought_signature: 'SIGNED' } },
    });
    expect(JSON.stringify(sent([signed('q/m')]))).not.toContain('SIGNED');
  });
});

describe('images', () => {
  const images: ModelMessage = {
    role: 'user',
    content: [
      { type: 'image', image: `data:image/jpeg;base64,${PNG}` },
      { type: 'image', image: PNG, mediaType: 'image/png' },
      { type: 'image', image: PNG },
    ],
  };

  test('come as data URI, as base64 with a type, and as bare base64 [K12]', () => {
    expect(sent([images])[0]?.content).toEqual(
      ['jpeg', 'png', 'png'].map(type => ({
        type: 'image_url',
        image_url: { url: `data:image/${type};base64,${PNG}` },
      })),
    );
  });

  test('come as an address on the web', () => {
    const image = { type: 'image', image: 'https://example.test/a b.png' };
    expect(sent([{ role: 'user', content: [{ type: 'text', text: 'see' }, image] }])[0]?.content).toEqual([
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url: { url: 'https://example.test/a%20b.png' } },
    ]);
  });

  test('are a note for a model that cannot see [P24]', () => {
    const [message] = sent([images], BLIND);
    expect(JSON.stringify(message)).not.toContain('image_url');
    expect(JSON.stringify(message)).toContain('cannot see images');
  });

  test('of parallel results follow the whole round', () => {
    const picture = [
      { type: 'text', text: 'a picture' },
      { type: 'image', image: PNG, mediaType: 'image/png' },
    ];
    const history: ModelMessage[] = [
      callsOf('p/m', ['a', ''], ['b', '']),
      resultOf('a', picture),
      resultOf('b', 'text'),
      { role: 'user', content: 'go on' },
    ];
    const messages = sent(history);
    expect(messages.slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'a picture\n[The image follows.]' },
      { role: 'tool', tool_call_id: 'b', content: 'text' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The image of the Read result:' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
        ],
      },
      { role: 'user', content: 'go on' },
    ]);
    const blind = sent(history, BLIND);
    expect(blind.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'user']);
    expect(blind[1]?.content).toContain('cannot see images');
  });
});

test('a failed result is marked as an error once, and an empty one says so [R34]', () => {
  const contentOf = (result: string, isError: boolean) =>
    sent([callsOf('p/m', ['a', '']), resultOf('a', result, isError)])[1]?.content;
  expect(contentOf('no such file', true)).toBe('Error: no such file');
  expect(contentOf('Error: no such file', true)).toBe('Error: no such file');
  expect(contentOf('', false)).toBe('(no output)');
});

test('no string has a lone surrogate, wherever it stands [P22]', () => {
  const messages: ModelMessage[] = [
    { role: 'user', content: 'cut \ud83d' },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'Read', args: { 'k\udc00': ['\ud83d'] } }],
    },
    resultOf('a', 'out \ud83d'),
  ];
  const text = JSON.stringify(sent(messages));
  expect(text).not.toMatch(/\\ud[89a-f]/);
  expect(text.split('\ufffd')).toHaveLength(5);
});

test('parts nobody knows are left out, and a message of nothing else with them', () => {
  const messages: ModelMessage[] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'hi' },
        { type: 'hologram', data: 1 },
      ],
    },
    { role: 'assistant', content: [{ type: 'redacted-reasoning', data: 'x', providerOptions: originOptions('p/m') }] },
    { role: 'user', content: 'again' },
  ];
  expect(sent(messages)).toEqual([
    { role: 'user', content: 'hi' },
    { role: 'user', content: 'again' },
  ]);
});

test('a text file is shown with its name, any other file is a note', () => {
  const data = Buffer.from('a,b\n1,2').toString('base64');
  const [message] = sent([
    {
      role: 'user',
      content: [
        { type: 'file', data, mediaType: 'text/csv', filename: 't.csv' },
        { type: 'file', data, mediaType: 'application/pdf', filename: 'p.pdf' },
      ],
    },
  ]);
  expect(message?.content).toEqual([
    { type: 'text', text: 'File t.csv:\na,b\n1,2' },
    { type: 'text', text: '[The file p.pdf (application/pdf) was here. This model cannot read it.]' },
  ]);
});
