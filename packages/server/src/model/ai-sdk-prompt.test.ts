import type { ModelMessage } from '@tandem/protocol/message';
import { describe, expect, test } from 'vitest';
import { translatePrompt } from './ai-sdk-prompt.ts';
import { originOptions } from './origin.ts';

const SEEING = { model: 'p/m', vision: true };
const BLIND = { model: 'p/m', vision: false };
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
const idsIn = (messages: ModelMessage[]) =>
  translatePrompt(messages, SEEING).flatMap(message =>
    typeof message.content === 'string'
      ? []
      : message.content.map(part => ('toolCallId' in part ? part.toolCallId : part.type)),
  );

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
    expect(translatePrompt(foreign('a'), SEEING)[0]?.content[0]).toMatchObject({ toolName: 'functions_Read_file' });
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
    expect(translatePrompt([thought('p/m')], SEEING)[0]?.content).toEqual([
      { type: 'reasoning', text: ' hm\n' },
      { type: 'text', text: 'so' },
    ]);
    expect(translatePrompt([thought('q/m')], SEEING)[0]?.content).toEqual([{ type: 'text', text: 'so' }]);
  });

  test('is sent as empty with calls that came without it, once this model has reasoned', () => {
    const call = callsOf('p/m', ['call_1', 'a']);
    const [bare] = translatePrompt([call], SEEING);
    expect(bare?.providerOptions).toBeUndefined();
    const after = translatePrompt([thought('p/m'), call], SEEING);
    expect(after[1]?.providerOptions).toEqual({ openaiCompatible: { reasoning_content: '' } });
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
    expect(translatePrompt([images], SEEING)[0]?.content).toEqual([
      { type: 'file', mediaType: 'image/jpeg', data: { type: 'data', data: PNG } },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: PNG } },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: PNG } },
    ]);
  });

  test('are a note for a model that cannot see [P24]', () => {
    const [message] = translatePrompt([images], BLIND);
    expect(JSON.stringify(message)).not.toContain('file');
    expect(JSON.stringify(message)).toContain('cannot see images');
  });

  test('of parallel results follow the whole round', () => {
    const picture = [
      { type: 'text', text: 'a picture' },
      { type: 'image', image: PNG, mediaType: 'image/png' },
    ];
    const prompt = translatePrompt(
      [
        callsOf('p/m', ['a', ''], ['b', '']),
        resultOf('a', picture),
        resultOf('b', 'text'),
        { role: 'user', content: 'go on' },
      ],
      SEEING,
    );
    expect(prompt.map(message => message.role)).toEqual(['assistant', 'tool', 'user', 'user']);
    expect(prompt[1]?.content).toMatchObject([
      { toolCallId: 'a', output: { type: 'text', value: 'a picture\n[The image follows.]' } },
      { toolCallId: 'b', output: { type: 'text', value: 'text' } },
    ]);
    expect(prompt[2]?.content[1]).toMatchObject({ type: 'file', mediaType: 'image/png' });
  });
});

test('a failed result is marked as an error once, and an empty one says so [R34]', () => {
  const valueOf = (result: string, isError: boolean) => {
    const content = translatePrompt([callsOf('p/m', ['a', '']), resultOf('a', result, isError)], SEEING)[1]?.content;
    return (content as { output: unknown }[])[0]?.output;
  };
  expect(valueOf('no such file', true)).toEqual({ type: 'error-text', value: 'Error: no such file' });
  expect(valueOf('Error: no such file', true)).toEqual({ type: 'error-text', value: 'Error: no such file' });
  expect(valueOf('', false)).toEqual({ type: 'text', value: '(no output)' });
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
  const text = JSON.stringify(translatePrompt(messages, SEEING));
  expect(text).not.toMatch(/\\ud[89a-f]/);
  expect(text.split('\ufffd')).toHaveLength(5);
});

test('parts nobody knows are left out, and a message of nothing else with them', () => {
  const prompt = translatePrompt(
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'hologram', data: 1 },
        ],
      },
      { role: 'assistant', content: [{ type: 'redacted-reasoning', data: 'x' }] },
      { role: 'user', content: 'again' },
    ],
    SEEING,
  );
  expect(prompt).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    { role: 'user', content: [{ type: 'text', text: 'again' }] },
  ]);
});

test('a text file is shown with its name, any other file is a note', () => {
  const data = Buffer.from('a,b\n1,2').toString('base64');
  const [message] = translatePrompt(
    [
      {
        role: 'user',
        content: [
          { type: 'file', data, mediaType: 'text/csv', filename: 't.csv' },
          { type: 'file', data, mediaType: 'application/pdf', filename: 'p.pdf' },
        ],
      },
    ],
    SEEING,
  );
  expect(message?.content).toEqual([
    { type: 'text', text: 'File t.csv:\na,b\n1,2' },
    { type: 'text', text: '[The file p.pdf (application/pdf) was here. This model cannot read it.]' },
  ]);
});
