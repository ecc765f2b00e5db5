import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Fault } from '@tandem/protocol';
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { startAnswer, translateStreamPart } from './ai-sdk-stream.ts';
import { translatePrompt } from './ai-sdk-prompt.ts';
import type { Model, ModelEvent, ModelInfo, ModelRequest, ToolDefinition } from './port.ts';
import type { ProviderFacts } from './provider-fault.ts';
import { faultOfAnswer, faultOfEvent, faultOfTransport } from './provider-fault.ts';
import type { Fetch } from './provider-fetch.ts';
import { createChatFetch, providerFetch, watchActivity } from './provider-fetch.ts';
import { loadProviderLayer } from './provider-layer.ts';
import { wellFormed } from './well-formed.ts';

/** What a chat-completions endpoint needs to be called. */
export interface OpenAICompatibleSettings {
  readonly info: ModelInfo;
  /** Up to and without `/chat/completions`. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The longest answer to ask for; undefined lets the provider decide. */
  readonly maxOutput?: number | undefined;
  readonly clock?: Clock;
  readonly fetch?: Fetch;
}

/** The names under which the effort of a model is chosen. */
const EFFORT = new Set(['effort', 'reasoning', 'reasoning_effort']);

/** A model behind an OpenAI chat-completions endpoint. The provider layer is loaded with the first call. */
export function createOpenAICompatible(settings: OpenAICompatibleSettings): Model {
  const { info, clock = systemClock } = settings;
  const facts: ProviderFacts = {
    name: info.provider,
    address: addressOf(settings.baseUrl),
    modelId: info.id,
    secrets: [settings.apiKey, ...Object.values(settings.headers ?? {})].filter(value => value !== undefined),
  };
  let loading: Promise<LanguageModelV4> | undefined;
  return {
    info,
    async *stream(request) {
      const abort = new AbortController();
      const onAbort = () => abort.abort(request.signal.reason);
      if (request.signal.aborted) throw request.signal.reason;
      request.signal.addEventListener('abort', onAbort, { once: true });
      watchActivity(abort.signal, request.onActivity);
      try {
        loading ??= loadLanguageModel(settings);
        const language = await loading;
        yield* streamCall(language, callOptions(request, settings, abort.signal), facts, clock, info.key);
      } catch (error) {
        throw request.signal.aborted ? request.signal.reason : error;
      } finally {
        request.signal.removeEventListener('abort', onAbort);
        abort.abort(); // whoever stopped listening no longer wants to pay for the answer
      }
    },
  };
}

async function loadLanguageModel(settings: OpenAICompatibleSettings): Promise<LanguageModelV4> {
  const layer = await loadProviderLayer();
  const isOpenAI = new URL(settings.baseUrl).hostname === 'api.openai.com';
  const provider = layer.createOpenAICompatible({
    name: 'tandem',
    baseURL: settings.baseUrl,
    includeUsage: true,
    fetch: createChatFetch(settings.fetch ?? providerFetch),
    ...(settings.apiKey !== undefined && { apiKey: settings.apiKey }),
    ...(settings.headers && { headers: { ...settings.headers } }),
    // OpenAI's reasoning models refuse the older name, which is the only one that most others know.
    ...(isOpenAI && {
      transformRequestBody: ({ max_tokens, ...body }) => ({ ...body, max_completion_tokens: max_tokens }),
    }),
  });
  return provider.chatModel(settings.info.id);
}

function callOptions(
  request: ModelRequest,
  { info, maxOutput }: OpenAICompatibleSettings,
  abortSignal: AbortSignal,
): LanguageModelV4CallOptions {
  const fields: Record<string, string | boolean> = {};
  for (const [name, value] of Object.entries(request.parameters)) {
    if (EFFORT.has(name)) fields['reasoningEffort'] = value;
    else fields[name] = value === 'true' || value === 'false' ? value === 'true' : value;
  }
  return {
    prompt: translatePrompt(request.messages, { model: info.key, vision: info.vision }),
    ...(request.tools.length > 0 && { tools: request.tools.map(toolOf) }),
    ...(maxOutput !== undefined && { maxOutputTokens: maxOutput }),
    providerOptions: { tandem: fields },
    abortSignal,
  };
}

function toolOf(tool: ToolDefinition): NonNullable<LanguageModelV4CallOptions['tools']>[number] {
  const schema = tool.parameters['type'] === 'object' ? tool.parameters : { ...tool.parameters, type: 'object' };
  const inputSchema = schema['properties'] === undefined ? { ...schema, properties: {} } : schema; // P17
  return {
    type: 'function',
    name: tool.name,
    description: tool.description.toWellFormed(),
    inputSchema: wellFormed(inputSchema),
  };
}

async function* streamCall(
  language: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  facts: ProviderFacts,
  clock: Clock,
  key: string,
): AsyncGenerator<ModelEvent> {
  let stream;
  try {
    ({ stream } = await language.doStream(options));
  } catch (error) {
    throw faultOfCall(error, facts, clock);
  }
  const answer = startAnswer(key);
  const reader = stream.getReader();
  for (;;) {
    let step;
    try {
      step = await reader.read();
    } catch (error) {
      throw faultOfEvent(error, facts);
    }
    if (step.done) return;
    for (const event of translateStreamPart(step.value, answer)) {
      if (event.type === 'error') throw faultOfEvent(event.error, facts);
      yield event;
    }
  }
}

/** The failure of a call before its stream began. The error of the layer holds the whole request and is not kept. */
function faultOfCall(error: unknown, facts: ProviderFacts, clock: Clock): Fault {
  const { statusCode, responseHeaders, responseBody, cause } = error as {
    statusCode?: number;
    responseHeaders?: Record<string, string>;
    responseBody?: string;
    cause?: unknown;
  };
  if (statusCode === undefined || statusCode < 400) return faultOfTransport(cause ?? error, facts);
  return faultOfAnswer(
    { status: statusCode, headers: responseHeaders ?? {}, body: responseBody ?? '' },
    facts,
    clock.now(),
  );
}

function addressOf(baseUrl: string): string {
  const url = new URL(baseUrl);
  return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
}
