import { readFileSync } from 'node:fs';

/** One thing that the fake provider does while it answers, in order. */
export type AnswerEvent =
  | { text: string }
  | { reasoning: string }
  /** Opens a call: `id` as it should stand on the wire (empty is allowed), `index` when it should differ from the order. */
  | { call: { id?: string; name?: string; index?: number; args?: string } }
  /** More argument text for the call with this index. */
  | { args: string; index: number }
  | { finish: string }
  | { usage: Record<string, unknown> }
  /** Waits until the test calls `provider.open(name)`. */
  | { gate: string }
  /** Bytes as they are, for what no honest provider sends. */
  | { raw: string }
  /** An error event inside the 200. */
  | { error: Record<string, unknown> }
  /** Sends nothing more and keeps the connection open until the caller leaves. */
  | { hang: true }
  /** Tears the connection down. */
  | { reset: true };

/** One answer, in short form or event by event. Short forms come in the order in which they stand here. */
export interface Answer {
  /** Only for requests whose newest marked user text holds this. Answers without it are taken in order. */
  when?: string;
  /** Answers with this status and error in place of a stream. */
  status?: { code: number; message?: string; body?: unknown; headers?: Record<string, string> };
  /** `before-headers`: takes the request and never answers. `at-once`: tears the connection down. */
  silent?: 'before-headers' | 'at-once';
  /** Waits before the first byte until the test calls `provider.open(name)`. */
  gate?: string;
  reasoning?: string | string[];
  text?: string | string[];
  /** `args` as an object is encoded; as a text it is sent as it is, in two pieces when it is long enough. */
  calls?: { id?: string; name: string; args: unknown; index?: number }[];
  events?: AnswerEvent[];
  /** Default: `tool_calls` with calls, else `stop`; null sends none. */
  finish?: string | null;
  /** Default: a small count; null sends none. */
  usage?: Record<string, unknown> | null;
  /** False leaves the closing `[DONE]` out. */
  done?: boolean;
}

const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 10,
  total_tokens: 110,
  prompt_tokens_details: { cached_tokens: 20 },
  completion_tokens_details: { reasoning_tokens: 3 },
};

const listOf = (value: string | string[] | undefined) =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value;

/** The events of an answer, its short forms written out. `number` makes the ids of its calls unique. */
export function eventsOf(answer: Answer, number: number): AnswerEvent[] {
  const events: AnswerEvent[] = answer.gate === undefined ? [] : [{ gate: answer.gate }];
  events.push(...listOf(answer.reasoning).map(reasoning => ({ reasoning })));
  events.push(...listOf(answer.text).map(text => ({ text })));
  for (const [at, call] of (answer.calls ?? []).entries()) {
    const index = call.index ?? at;
    const args = typeof call.args === 'string' ? call.args : JSON.stringify(call.args);
    const half = Math.ceil(args.length / 2);
    events.push({ call: { id: call.id ?? `call_${number}_${at}`, name: call.name, index } });
    events.push({ args: args.slice(0, half), index }, { args: args.slice(half), index });
  }
  events.push(...(answer.events ?? []));
  if (events.some(event => 'hang' in event || 'reset' in event || 'error' in event)) return events;
  const hasCalls = events.some(event => 'call' in event);
  if (answer.finish !== null && !events.some(event => 'finish' in event)) {
    events.push({ finish: answer.finish ?? (hasCalls ? 'tool_calls' : 'stop') });
  }
  if (answer.usage !== null && !events.some(event => 'usage' in event)) events.push({ usage: answer.usage ?? USAGE });
  if (answer.done !== false) events.push({ raw: 'data: [DONE]\n\n' });
  return events;
}

/** What an event is on the wire; undefined for those that are deeds, not bytes. */
export function encodeEvent(event: AnswerEvent, model: string): string | undefined {
  const chunk = (delta: object, finish: string | null = null, extra: object = {}) => {
    const choices = 'usage' in extra ? [] : [{ index: 0, delta, finish_reason: finish }];
    return `data: ${JSON.stringify({ id: 'chatcmpl-fake', object: 'chat.completion.chunk', created: 1, model, choices, ...extra })}\n\n`;
  };
  if ('raw' in event) return event.raw;
  if ('text' in event) return chunk({ content: event.text });
  if ('reasoning' in event) return chunk({ reasoning_content: event.reasoning });
  if ('call' in event) {
    const { id, name, index = 0, args = '' } = event.call;
    return chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] });
  }
  if ('args' in event) return chunk({ tool_calls: [{ index: event.index, function: { arguments: event.args } }] });
  if ('finish' in event) return chunk({}, event.finish);
  if ('usage' in event) return chunk({}, null, { usage: event.usage });
  if ('error' in event) return `data: ${JSON.stringify({ error: event.error })}\n\n`;
  return undefined;
}

/** Where answer files live. */
export const ANSWERS = new URL('../answers/', import.meta.url);

/** Reads the answers of `test/answers/NAME.json`: a list of answers. */
export function readAnswers(name: string): Answer[] {
  return JSON.parse(readFileSync(new URL(`${name}.json`, ANSWERS), 'utf8')) as Answer[];
}
