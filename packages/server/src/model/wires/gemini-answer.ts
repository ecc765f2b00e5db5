import { CharacterHalves } from '../halves.ts';
import { TOOL_CALLS } from '../limits.ts';
import { originOptions } from '../origin.ts';
import type { FinishReason, ModelEvent, ModelInfo } from '../port.ts';
import type { ServerSentEvent } from '../server-sent-events.ts';
import { usageOfGemini } from '../usage.ts';
import { UNNAMED, nameIn, shownText, thoughtEnd } from './answer-events.ts';
import { isRecord, readEvent, textIn } from './event-json.ts';
import type { AnswerReader, StreamError } from './wire.ts';

const FILTERED = new Set([
  'SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY', 'OTHER',
]); // prettier-ignore

/** Reads a Gemini answer: whole calls, thoughts as parts of their own, signatures on any part. */
export class GeminiAnswer implements AnswerReader {
  /** The body ends by itself: usage may come after the reason. */
  readonly isDone = false;
  readonly #model: string;
  readonly #halves = new CharacterHalves();
  #isThinking = false;
  #hasBegun = false;
  #calls = 0;
  #reason: string | undefined;
  #usage: unknown;

  constructor(info: ModelInfo) {
    this.#model = info.key;
  }

  push(event: ServerSentEvent): (ModelEvent | StreamError)[] {
    const value = readEvent(event);
    if (value === undefined) return [];
    if ('failure' in value) return [value.failure];
    const { candidates, promptFeedback, usageMetadata } = value.json;
    if (isRecord(usageMetadata)) this.#usage = usageMetadata;
    if (isRecord(promptFeedback) && textIn(promptFeedback, 'blockReason') !== '') this.#reason ??= 'SAFETY';
    const candidate: unknown = Array.isArray(candidates) ? (candidates as unknown[])[0] : undefined;
    if (!isRecord(candidate)) return [];
    const parts: unknown = isRecord(candidate['content']) ? candidate['content']['parts'] : undefined;
    const events = Array.isArray(parts) ? (parts as unknown[]).filter(isRecord).flatMap(part => this.#part(part)) : [];
    if (events.length > 0) this.#hasBegun = true;
    const reason = textIn(candidate, 'finishReason');
    if (reason === 'MALFORMED_FUNCTION_CALL' || reason === 'UNEXPECTED_TOOL_CALL') {
      const said = textIn(candidate, 'finishMessage') || 'the model wrote a call that cannot be read';
      if (!this.#hasBegun) return [{ type: 'error', error: { message: said, type: reason } }];
      this.#reason = reason;
      return [...events, ...this.#endThought(), ...this.#unreadableCall(said)];
    }
    if (reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED') this.#reason = reason;
    return events;
  }

  finish(): ModelEvent[] {
    return [...this.#endThought(), { type: 'finish', reason: this.#finishReason(), usage: usageOfGemini(this.#usage) }];
  }

  #finishReason(): FinishReason {
    if (this.#reason === undefined) return 'missing';
    if (this.#reason === 'MAX_TOKENS') return 'length';
    if (FILTERED.has(this.#reason)) return 'content-filter';
    return this.#calls > 0 ? 'tool-calls' : 'stop';
  }

  #part(part: Record<string, unknown>): ModelEvent[] {
    const signature = textIn(part, 'thoughtSignature');
    if (isRecord(part['functionCall'])) return [...this.#endThought(), ...this.#call(part['functionCall'], signature)];
    const text = textIn(part, 'text');
    if (part['thought'] === true) {
      this.#isThinking = true;
      const shown = shownText('reasoning', this.#halves.push('reasoning', text));
      return signature === '' ? shown : [...shown, ...this.#endThought(signature)];
    }
    const ended = text === '' && signature === '' ? [] : this.#endThought();
    const shown = [...ended, ...shownText('text', this.#halves.push('text', text))];
    return signature === ''
      ? shown
      : [...shown, { type: 'redacted-reasoning', data: '', providerOptions: this.#signed(signature) }];
  }

  #call(call: Record<string, unknown>, signature: string): ModelEvent[] {
    if (this.#calls >= TOOL_CALLS) return [];
    const key = String(this.#calls++);
    const providerId = textIn(call, 'id');
    const name = nameIn(call);
    const args = isRecord(call['args']) ? JSON.stringify(call['args']).toWellFormed() : '{}';
    const options = originOptions(this.#model, providerId === '' ? undefined : providerId);
    const providerOptions = signature === '' ? options : { ...options, google: { thoughtSignature: signature } };
    return [
      { type: 'tool-start', key, providerId, name },
      { type: 'tool-call', key, providerId, name, args, providerOptions },
    ];
  }

  /** After output no other try is made: the model learns from the result of its call that it cannot be read (R57). */
  #unreadableCall(said: string): ModelEvent[] {
    if (this.#calls >= TOOL_CALLS) return [];
    const key = String(this.#calls++);
    const name = /(?:\bdefault_api\.|\bcall:)(\w+)/.exec(said)?.[1] ?? UNNAMED;
    const providerOptions = originOptions(this.#model);
    return [
      { type: 'tool-start', key, providerId: '', name },
      { type: 'tool-call', key, providerId: '', name, args: said.toWellFormed(), providerOptions },
    ];
  }

  #endThought(signature = ''): ModelEvent[] {
    if (!this.#isThinking) return [];
    this.#isThinking = false;
    const providerOptions = signature === '' ? originOptions(this.#model) : this.#signed(signature);
    return thoughtEnd(this.#halves.rest('reasoning'), providerOptions);
  }

  #signed(signature: string) {
    return { ...originOptions(this.#model), google: { thoughtSignature: signature } };
  }
}
