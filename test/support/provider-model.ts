import { onTestFinished } from 'vitest';
import type { ModelMessage } from '@tandem/protocol/message';
import type { RemoteProvider } from '../../packages/server/src/config/config.ts';
import type { RemoteType } from '../../packages/server/src/config/provider-types.ts';
import { providerTypeOf } from '../../packages/server/src/config/provider-types.ts';
import { Secret } from '../../packages/server/src/config/secret.ts';
import type {
  FinishReason,
  Model,
  ModelEvent,
  ModelRequest,
  ToolDefinition,
  Usage,
} from '../../packages/server/src/model/port.ts';
import { createRemoteModel } from '../../packages/server/src/model/remote-model.ts';
import type { RemoteOptions } from '../../packages/server/src/model/remote-model.ts';
import { Answer } from '../../packages/server/src/run/answer.ts';
import type { Issued } from './provider-issued.ts';
import type { WireAnswer, WireProvider } from './provider-wire.ts';
import { startWireProvider } from './provider-wire.ts';

/** The key with which tests call fake providers; it may stand nowhere but in their requests. */
export const PLANTED_KEY = 'planted-key-7f3a9c';

/** A model of each wire that thinks, as its provider names it. */
const MODEL_IDS: { readonly [wire in ReturnType<typeof providerTypeOf>['wire']]: string } = {
  messages: 'claude-sonnet-4-5',
  responses: 'gpt-5',
  gemini: 'gemini-3-flash',
  converse: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
  chat: 'some-model',
};

export interface ConnectOptions extends RemoteOptions {
  id?: string;
  vision?: boolean;
  contextWindow?: number;
  /** The longest answer that the model can give. */
  longest?: number;
  headers?: Record<string, string>;
  aws?: RemoteProvider['aws'];
  cut?: number;
  issued?: Issued;
}

/** A model of a provider type whose fake gives these answers. */
export async function connectModel(
  type: RemoteType,
  answers: readonly WireAnswer[],
  options: ConnectOptions = {},
): Promise<{ model: Model; provider: WireProvider }> {
  const { wire } = providerTypeOf(type);
  const provider = await startWireProvider(wire, answers, {
    ...(options.cut !== undefined && { cut: options.cut }),
    ...(options.issued !== undefined && { issued: options.issued }),
  });
  onTestFinished(() => provider.close());
  const id = options.id ?? MODEL_IDS[wire];
  const config: RemoteProvider = {
    name: type,
    type,
    baseUrl: wire === 'converse' ? provider.origin : `${provider.origin}/v1`,
    ...(options.aws ? { aws: options.aws } : { apiKey: new Secret(PLANTED_KEY) }),
    headers: Object.fromEntries(
      Object.entries(options.headers ?? {}).map(([name, value]) => [name, new Secret(value)] as const),
    ),
    models: [],
  };
  const info = {
    key: `${type}/${id}`,
    provider: type,
    id,
    name: id,
    contextWindow: options.contextWindow ?? 200_000,
    maxOutput: options.longest ?? 16_000,
    vision: options.vision ?? true,
    aliases: [],
    parameters: [],
  };
  return { model: createRemoteModel(config, info, options), provider };
}

export const READ_FILE: ToolDefinition = {
  name: 'read_file',
  description: 'Reads a file.',
  parameters: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Its path.' },
      from: { type: ['integer', 'null'], minimum: 1, exclusiveMaximum: 9 },
      mode: { const: 'text' },
      lines: { type: 'array', items: { $ref: '#/$defs/range' } },
    },
    required: ['path'],
    additionalProperties: false,
    $defs: { range: { type: 'object', properties: { from: { type: 'number' } }, additionalProperties: false } },
  },
};
const LIST_FILES: ToolDefinition = { name: 'list_files', description: 'Lists files.', parameters: { type: 'object' } };

export const user = (text: string): ModelMessage => ({ role: 'user', content: text });

/** A request as the loop makes it, with a system prompt and two tools. */
export function requestOf(messages: readonly ModelMessage[], more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [{ role: 'system', content: 'You help.' }, ...messages],
    tools: [READ_FILE, LIST_FILES],
    parameters: {},
    signal: new AbortController().signal,
    ...more,
  };
}

/** One answer, added up. */
export interface Told {
  text: string;
  reasoning: string;
  calls: { name: string; args: unknown }[];
  reason: FinishReason | undefined;
  usage: Usage | undefined;
  events: ModelEvent[];
  /** The answer as it goes into the history. */
  message: ModelMessage;
  durations: number[];
}

let callNumber = 0;

/** Asks a model and adds its answer up. Each event takes `step` milliseconds of the answer's clock. */
export async function ask(model: Model, request: ModelRequest, step = 10): Promise<Told> {
  const answer = new Answer(() => `call_ours${++callNumber}`);
  const events: ModelEvent[] = [];
  const durations: number[] = [];
  let now = 1_000;
  for await (const event of model.stream(request)) {
    events.push(event);
    for (const shown of answer.push(event, (now += step))) {
      if (shown.show === 'thinking-end') durations.push(shown.durationMs);
    }
  }
  const textOf = (type: string) =>
    events.map(event => (event.type === type && 'text' in event ? event.text : '')).join('');
  const parse = (args: string) => (args === '' ? {} : (JSON.parse(args) as Record<string, unknown>));
  return {
    text: textOf('text'),
    reasoning: textOf('reasoning'),
    calls: answer.calls.map(({ name, args }) => ({ name, args: parse(args) })),
    reason: answer.finish?.reason,
    usage: answer.finish?.usage,
    events,
    message: {
      role: 'assistant',
      content: JSON.parse(JSON.stringify(answer.messageParts(model.info.key, call => parse(call.args)))),
    },
    durations,
  };
}

/** The results of every call of an answer. */
export function resultsOf(message: ModelMessage, result: unknown = 'contents'): ModelMessage {
  const parts = message.content as { type: string; toolCallId: string; toolName: string }[];
  return {
    role: 'tool',
    content: parts
      .filter(part => part.type === 'tool-call')
      .map(({ toolCallId, toolName }) => ({ type: 'tool-result', toolCallId, toolName, result })),
  };
}
