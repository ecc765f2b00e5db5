import { ANY_ID } from './wire-names.ts';

/**
 * What one endpoint wants otherwise than its wire does in general: all differences are here, as data. Every field that is
 * not the default stands in {@link QUIRKS} beside the reason for it.
 */
export interface Quirks {
  /** What it takes as the id of a tool call. */
  readonly callId: RegExp;
  /** The field of the longest answer, on the chat wire. */
  readonly maxTokens: 'max_tokens' | 'max_completion_tokens';
  /** Whether it takes `stream_options` (chat wire); some refuse it and report usage anyway. */
  readonly streamOptions: boolean;
  /** The field in which it takes its own reasoning back (chat wire); `none`: it refuses it. */
  readonly reasoningReplay: 'reasoning_content' | 'reasoning' | 'none';
  /** How it takes an effort (chat wire): `none` leaves it out. */
  readonly effort: 'reasoning_effort' | 'reasoning.effort' | 'none';
  /** A message of the user may not follow one of a tool: an assistant's message stands between (chat wire). */
  readonly assistantAfterTool: boolean;
  /** The part of JSON schema that it takes for tools: `openapi` is the subset of OpenAPI 3.0. */
  readonly schema: 'json' | 'openapi';
  /** Whether it takes a key that keeps one conversation on one cache. */
  readonly promptCacheKey: boolean;
}

export const NO_QUIRKS: Quirks = {
  callId: ANY_ID,
  maxTokens: 'max_tokens',
  streamOptions: true,
  reasoningReplay: 'reasoning_content',
  effort: 'reasoning_effort',
  assistantAfterTool: false,
  schema: 'json',
  promptCacheKey: false,
};

/** The quirks of each provider type; a type that is not here has none. */
export const QUIRKS: Readonly<Record<string, Partial<Quirks> & { readonly why: string }>> = {
  openai: {
    callId: /^[A-Za-z0-9_-]{1,64}$/,
    promptCacheKey: true,
    why: 'call_id is limited to 64 characters; a cache key routes a conversation to the machine that has its prefix',
  },
  'openai-chat': {
    maxTokens: 'max_completion_tokens',
    reasoningReplay: 'none',
    promptCacheKey: true,
    why: 'reasoning models refuse max_tokens; chat completions gives no reasoning and takes none',
  },
  azure: {
    callId: /^[A-Za-z0-9_-]{1,64}$/,
    promptCacheKey: true,
    why: 'the Responses wire of OpenAI at another address, with the key in api-key',
  },
  anthropic: { callId: /^[A-Za-z0-9_-]{1,64}$/, why: 'other characters in a tool_use id are refused' },
  bedrock: { callId: /^[A-Za-z0-9_-]{1,64}$/, why: 'other characters in a toolUseId are refused' },
  google: { schema: 'openapi', why: 'function declarations take the OpenAPI subset; anything else is a 400' },
  vertex: { schema: 'openapi', why: 'as google, at an address of a project and with a bearer' },
  xai: { reasoningReplay: 'none', why: 'reasoning_content in a request is not documented and refused by some models' },
  mistral: {
    callId: /^[A-Za-z0-9]{9}$/,
    streamOptions: false,
    reasoningReplay: 'none',
    effort: 'none',
    assistantAfterTool: true,
    why: 'ids have exactly nine letters and digits; role user after role tool is refused; unknown body fields are a 422',
  },
  groq: { reasoningReplay: 'none', why: 'reasoning in an assistant message is refused' },
  deepseek: {
    effort: 'none',
    why: 'has no effort: another model id reasons; its reasoning_content must come back with tool calls',
  },
  openrouter: {
    reasoningReplay: 'reasoning',
    effort: 'reasoning.effort',
    why: 'one object for the effort of every vendor; reasoning is the name of its own field',
  },
  ollama: { reasoningReplay: 'reasoning', why: 'the field of its chat wire is reasoning' },
  lmstudio: { reasoningReplay: 'none', why: 'its templates take content alone' },
  'llama.cpp': { why: 'takes what the wire has' },
};

/** The quirks of a provider type, complete. */
export function quirksOf(type: string): Quirks {
  const { why: _, ...own } = QUIRKS[type] ?? { why: '' };
  return { ...NO_QUIRKS, ...own };
}
