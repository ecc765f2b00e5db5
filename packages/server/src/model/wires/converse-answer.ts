import { CharacterHalves } from '../halves.ts';
import { TOOL_CALLS } from '../limits.ts';
import { originOptions } from '../origin.ts';
import type { FinishReason, ModelEvent, ModelInfo } from '../port.ts';
import type { ServerSentEvent } from '../server-sent-events.ts';
import { usageOfConverse } from '../usage.ts';
import { nameIn, shownArgs, shownText, thoughtEnd } from './answer-events.ts';
import { isRecord, readEvent, textIn } from './event-json.ts';
import type { AnswerReader, StreamError } from './wire.ts';

type Block =
  | { kind: 'text' }
  | { kind: 'thinking'; thinking: string; signature: string; redacted: string }
  | { kind: 'call'; key: string; providerId: string; name: string; args: string };

const REASONS: Readonly<Record<string, FinishReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  content_filtered: 'content-filter',
  guardrail_intervened: 'content-filter',
  refusal: 'refusal',
  tool_use: 'tool-calls',
};

/** Reads a Converse answer: blocks begin with their first delta, calls alone are announced. */
export class ConverseAnswer implements AnswerReader {
  /** The body ends by itself: usage comes after the reason. */
  readonly isDone = false;
  readonly #model: string;
  readonly #blocks = new Map<number, Block>();
  readonly #halves = new CharacterHalves();
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
    const json = value.json;
    const index = typeof json['contentBlockIndex'] === 'number' ? json['contentBlockIndex'] : 0;
    switch (event.event) {
      case 'contentBlockStart': {
        const use = isRecord(json['start']) ? json['start']['toolUse'] : undefined;
        return isRecord(use) ? this.#open(index, use) : [];
      }
      case 'contentBlockDelta':
        return isRecord(json['delta']) ? this.#grow(index, json['delta']) : [];
      case 'contentBlockStop':
        return this.#stop(index);
      case 'messageStop':
        this.#reason = textIn(json, 'stopReason') || undefined;
        return [];
      case 'metadata':
        this.#usage = json['usage'];
        return [];
      default:
        return [];
    }
  }

  finish(): ModelEvent[] {
    const open = [...this.#blocks.keys()].flatMap(index => this.#stop(index));
    return [...open, { type: 'finish', reason: this.#finishReason(), usage: usageOfConverse(this.#usage) }];
  }

  #finishReason(): FinishReason {
    if (this.#reason === undefined) return 'missing';
    return REASONS[this.#reason] ?? (this.#calls > 0 ? 'tool-calls' : 'stop');
  }

  #open(index: number, use: Record<string, unknown>): ModelEvent[] {
    const before = this.#stop(index);
    if (this.#calls >= TOOL_CALLS) return before;
    const call = {
      key: String(++this.#calls),
      providerId: textIn(use, 'toolUseId'),
      name: nameIn(use),
    };
    this.#blocks.set(index, { kind: 'call', ...call, args: '' });
    return [...before, { type: 'tool-start', ...call }];
  }

  #grow(index: number, delta: Record<string, unknown>): ModelEvent[] {
    const { text, toolUse, reasoningContent } = delta;
    if (typeof text === 'string') {
      if (!this.#blocks.has(index)) this.#blocks.set(index, { kind: 'text' });
      return this.#say('text', index, text);
    }
    const block = this.#blocks.get(index);
    if (isRecord(toolUse) && block?.kind === 'call') {
      const piece = textIn(toolUse, 'input');
      block.args += piece;
      return shownArgs(block.key, this.#halves.push(`${index}`, piece));
    }
    return isRecord(reasoningContent) ? this.#think(index, reasoningContent) : [];
  }

  #think(index: number, content: Record<string, unknown>): ModelEvent[] {
    const known = this.#blocks.get(index);
    const block =
      known?.kind === 'thinking' ? known : { kind: 'thinking' as const, thinking: '', signature: '', redacted: '' };
    this.#blocks.set(index, block);
    block.signature += textIn(content, 'signature');
    block.redacted += textIn(content, 'redactedContent');
    const thinking = textIn(content, 'text');
    block.thinking += thinking;
    return this.#say('reasoning', index, thinking);
  }

  #say(type: 'text' | 'reasoning', index: number, delta: string): ModelEvent[] {
    return shownText(type, this.#halves.push(`${index}`, delta));
  }

  #stop(index: number): ModelEvent[] {
    const block = this.#blocks.get(index);
    if (block === undefined) return [];
    this.#blocks.delete(index);
    const rest = this.#halves.rest(`${index}`);
    switch (block.kind) {
      case 'text':
        return shownText('text', rest);
      case 'thinking': {
        const providerOptions = originOptions(this.#model);
        if (block.signature !== '') providerOptions['bedrock'] = { signature: block.signature };
        if (block.thinking === '') return [{ type: 'redacted-reasoning', data: block.redacted, providerOptions }];
        return thoughtEnd(rest, providerOptions);
      }
      case 'call': {
        const { key, providerId, name, args } = block;
        const providerOptions = originOptions(this.#model, providerId);
        return [{ type: 'tool-call', key, providerId, name, args: args.toWellFormed(), providerOptions }];
      }
    }
  }
}
