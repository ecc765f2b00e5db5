import type { MessagePart, ProviderOptions } from '@tandem/protocol/message';
import { originOptions } from '../model/origin.ts';
import type { FinishReason, ModelEvent, Usage } from '../model/port.ts';

/** One tool call of a model's answer. `args` is the raw text, authoritative once `whole`. */
export interface AnswerCall {
  readonly callId: string;
  readonly name: string;
  readonly providerId: string;
  args: string;
  whole: boolean;
  /** What the provider wants back with the call, e.g. a signature. */
  providerOptions?: ProviderOptions;
}

/** A stretch of reasoning with the time it took, for the display side of the history. */
export interface AnswerThinking {
  readonly type: 'thinking';
  text: string;
  startedAtMs: number;
  completedAtMs: number;
  providerOptions?: ProviderOptions;
}

export type AnswerPart =
  | { type: 'text'; text: string; startedAtMs: number }
  | AnswerThinking
  | { type: 'redacted'; data: string; providerOptions?: ProviderOptions }
  | { type: 'call'; call: AnswerCall };

/** What the client is to be shown for one model event. */
export type Shown =
  | { show: 'text'; text: string }
  | { show: 'thinking'; text: string }
  | { show: 'thinking-end'; durationMs: number }
  | { show: 'call'; call: AnswerCall }
  | { show: 'args'; call: AnswerCall; text: string };

/**
 * The answer of one model call while it streams in. `push` is the translation from model events to what is shown (§16): it takes
 * the time with each event and does nothing else, so a recorded stream gives the same frames again.
 */
export class Answer {
  readonly parts: AnswerPart[] = [];
  readonly calls: AnswerCall[] = [];
  finish: { reason: FinishReason; usage: Usage } | undefined;
  readonly #byKey = new Map<string, AnswerCall>();
  readonly #newCallId: () => string;
  /** The first half of a character whose second half comes with the next delta (R26). */
  #half: { kind: 'text' | 'thinking'; unit: string } | undefined;

  constructor(newCallId: () => string) {
    this.#newCallId = newCallId;
  }

  get text(): string {
    return this.parts.map(part => (part.type === 'text' ? part.text : '')).join('');
  }

  /** Characters of all that came. */
  get characters(): number {
    return this.parts.reduce((sum, part) => {
      if (part.type === 'call') return sum + part.call.name.length + part.call.args.length;
      return sum + (part.type === 'redacted' ? 0 : part.text.length);
    }, 0);
  }

  push(event: ModelEvent, now: number): Shown[] {
    switch (event.type) {
      case 'text':
        return this.#grow('text', event.text, now);
      case 'reasoning':
        return this.#grow('thinking', event.text, now);
      case 'reasoning-end': {
        const last = this.parts.at(-1);
        if (last?.type === 'thinking' && event.providerOptions) last.providerOptions = event.providerOptions;
        return this.#endThinking(now);
      }
      case 'redacted-reasoning': {
        const shown = this.#endThinking(now);
        this.parts.push({
          type: 'redacted',
          data: event.data,
          ...(event.providerOptions && { providerOptions: event.providerOptions }),
        });
        return shown;
      }
      case 'tool-start':
        return [...this.#endThinking(now), { show: 'call', call: this.#open(event) }];
      case 'tool-args': {
        const call = this.#byKey.get(event.key);
        if (!call || call.whole || event.text === '') return [];
        call.args += event.text;
        return [{ show: 'args', call, text: event.text }];
      }
      case 'tool-call': {
        const known = this.#byKey.get(event.key);
        const ended = known ? [] : this.#endThinking(now);
        const call = known ?? this.#open(event);
        const rest = event.args.startsWith(call.args) ? event.args.slice(call.args.length) : '';
        call.args = event.args;
        call.whole = true;
        if (event.providerOptions) call.providerOptions = event.providerOptions;
        const shown: Shown[] = known ? [] : [...ended, { show: 'call', call }];
        if (rest !== '') shown.push({ show: 'args', call, text: rest });
        return shown;
      }
      case 'finish':
        this.finish = { reason: event.reason, usage: event.usage };
        return [...this.#flushHalf(now), ...this.#endThinking(now)];
    }
  }

  #open({ key, name, providerId }: { key: string; name: string; providerId: string }): AnswerCall {
    const call: AnswerCall = { callId: this.#newCallId(), name, providerId, args: '', whole: false };
    this.#byKey.set(key, call);
    this.calls.push(call);
    this.parts.push({ type: 'call', call });
    return call;
  }

  #grow(kind: 'text' | 'thinking', delta: string, now: number): Shown[] {
    const shown: Shown[] = [];
    let text = delta;
    if (this.#half?.kind === kind) {
      text = this.#half.unit + text;
      this.#half = undefined;
    } else shown.push(...this.#flushHalf(now));
    const last = text.charCodeAt(text.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#half = { kind, unit: text.slice(-1) };
      text = text.slice(0, -1);
    }
    if (text === '') return shown;
    if (kind === 'text') shown.push(...this.#endThinking(now));
    this.#extend(kind, text.toWellFormed(), now);
    shown.push({ show: kind, text: text.toWellFormed() });
    return shown;
  }

  #flushHalf(now: number): Shown[] {
    if (!this.#half) return [];
    const { kind } = this.#half;
    this.#half = undefined;
    this.#extend(kind, '\ufffd', now);
    return [{ show: kind, text: '\ufffd' }];
  }

  #extend(kind: 'text' | 'thinking', text: string, now: number): void {
    const last = this.parts.at(-1);
    if (last?.type === 'text' && kind === 'text') last.text += text;
    else if (last?.type === 'thinking' && kind === 'thinking' && last.completedAtMs === 0) last.text += text;
    else if (kind === 'text') this.parts.push({ type: 'text', text, startedAtMs: now });
    else this.parts.push({ type: 'thinking', text, startedAtMs: now, completedAtMs: 0 });
  }

  #endThinking(now: number): Shown[] {
    const last = this.parts.at(-1);
    if (last?.type !== 'thinking' || last.completedAtMs !== 0) return [];
    last.completedAtMs = Math.max(now, last.startedAtMs + 1);
    return [{ show: 'thinking-end', durationMs: Math.max(1, Math.round(last.completedAtMs - last.startedAtMs)) }];
  }

  /**
   * The answer as parts of an assistant message (R46). `argsOf` gives the arguments that stand in the history: always an
   * object, also when the model wrote something else (P16).
   */
  messageParts(model: string, argsOf: (call: AnswerCall) => Record<string, unknown>): MessagePart[] {
    return this.parts.map((part): MessagePart => {
      if (part.type === 'text') return { type: 'text', text: part.text };
      if (part.type === 'redacted')
        return {
          type: 'redacted-reasoning',
          data: part.data,
          providerOptions: { ...part.providerOptions, ...originOptions(model) },
        };
      if (part.type === 'thinking') {
        const durationMs = Math.max(1, part.completedAtMs - part.startedAtMs);
        const { tandem } = originOptions(model);
        return {
          type: 'reasoning',
          text: part.text,
          providerOptions: { ...part.providerOptions, tandem: { ...tandem, durationMs } },
        };
      }
      const { call } = part;
      return {
        type: 'tool-call',
        toolCallId: call.callId,
        toolName: call.name,
        args: argsOf(call),
        providerOptions: { ...call.providerOptions, ...originOptions(model, call.providerId || undefined) },
      };
    });
  }
}
