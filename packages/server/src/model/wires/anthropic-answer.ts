import { CharacterHalves } from '../halves.ts';
import { TOOL_CALLS } from '../limits.ts';
import { originOptions } from '../origin.ts';
import type { FinishReason, ModelEvent, ModelInfo, Usage } from '../port.ts';
import type { ServerSentEvent } from '../server-sent-events.ts';
import { usageOfAnthropic } from '../usage.ts';
import { nameIn, shownArgs, shownText, thoughtEnd } from './answer-events.ts';
import { isRecord, readEvent, textIn } from './event-json.ts';
import type { AnswerReader, StreamError } from './wire.ts';

type Block =
  | { kind: 'text' }
  | { kind: 'thinking'; thinking: string; signature: string }
  | { kind: 'call'; key: string; providerId: string; name: string; args: string; whole: unknown };

const REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refusal',
};

/** Reads a Messages answer. Blocks and deltas of types nobody knows, e.g. of tools that run at the provider, are passed over. */
export class AnthropicAnswer implements AnswerReader {
  isDone = false;
  toldUsage: Usage | undefined;
  readonly #model: string;
  readonly #blocks = new Map<number, Block>();
  readonly #halves = new CharacterHalves();
  #usage: Record<string, unknown> = {};
  #reason: string | undefined;
  #calls = 0;

  constructor(info: ModelInfo) {
    this.#model = info.key;
  }

  push(event: ServerSentEvent): (ModelEvent | StreamError)[] {
    const value = readEvent(event);
    if (value === undefined) return [];
    if ('failure' in value) return [value.failure];
    const json = value.json;
    const index = typeof json['index'] === 'number' ? json['index'] : 0;
    switch (json['type']) {
      case 'message_start':
        this.#addUsage(isRecord(json['message']) ? json['message']['usage'] : undefined);
        this.toldUsage = usageOfAnthropic(this.#usage);
        return [];
      case 'message':
        return this.#whole(json);
      case 'content_block_start':
        return isRecord(json['content_block']) ? this.#start(index, json['content_block']) : [];
      case 'content_block_delta':
        return isRecord(json['delta']) ? this.#grow(index, json['delta']) : [];
      case 'content_block_stop':
        return this.#stop(index);
      case 'message_delta': {
        this.#addUsage(json['usage']);
        const reason = isRecord(json['delta']) ? json['delta']['stop_reason'] : undefined;
        if (typeof reason === 'string') this.#reason = reason;
        return [];
      }
      case 'message_stop':
        this.isDone = true;
        return [];
      default:
        return []; // ping, and what later versions add
    }
  }

  finish(): ModelEvent[] {
    const open = [...this.#blocks.keys()].flatMap(index => this.#stop(index));
    return [...open, { type: 'finish', reason: this.#finishReason(), usage: usageOfAnthropic(this.#usage) }];
  }

  /** The answer of a gateway that does not stream. */
  #whole(message: Record<string, unknown>): ModelEvent[] {
    this.isDone = true;
    this.#addUsage(message['usage']);
    this.#reason = textIn(message, 'stop_reason') || undefined;
    const content: unknown[] = Array.isArray(message['content']) ? message['content'] : [];
    return content.filter(isRecord).flatMap((block, at) => [...this.#start(at, block), ...this.#stop(at)]);
  }

  #finishReason(): FinishReason {
    if (this.#reason === undefined) return 'missing';
    const reason = REASONS[this.#reason] ?? 'stop';
    return reason === 'stop' && this.#calls > 0 ? 'tool-calls' : reason;
  }

  #addUsage(usage: unknown): void {
    if (!isRecord(usage)) return;
    const counted = Object.entries(usage).filter(([, count]) => count !== null && count !== undefined);
    this.#usage = { ...this.#usage, ...Object.fromEntries(counted) };
  }

  #start(index: number, block: Record<string, unknown>): ModelEvent[] {
    const before = this.#stop(index); // a gateway that forgets the stop
    switch (block['type']) {
      case 'text':
        this.#blocks.set(index, { kind: 'text' });
        return [...before, ...this.#grow(index, { type: 'text_delta', text: block['text'] })];
      case 'thinking': {
        this.#blocks.set(index, { kind: 'thinking', thinking: '', signature: textIn(block, 'signature') });
        return [...before, ...this.#grow(index, { type: 'thinking_delta', thinking: block['thinking'] })];
      }
      case 'redacted_thinking':
        return [...before, { type: 'redacted-reasoning', data: textIn(block, 'data') }];
      case 'tool_use': {
        if (this.#calls >= TOOL_CALLS) return before;
        this.#calls++;
        const name = nameIn(block);
        const call = { key: String(this.#calls), providerId: textIn(block, 'id'), name };
        this.#blocks.set(index, { kind: 'call', ...call, args: '', whole: block['input'] });
        return [...before, { type: 'tool-start', ...call }];
      }
      default:
        return before;
    }
  }

  #grow(index: number, delta: Record<string, unknown>): ModelEvent[] {
    const block = this.#blocks.get(index);
    switch (block?.kind) {
      case 'text': {
        const piece = delta['type'] === 'text_delta' ? textIn(delta, 'text') : '';
        return shownText('text', this.#halves.push(`${index}`, piece));
      }
      case 'thinking': {
        if (delta['type'] === 'signature_delta') block.signature += textIn(delta, 'signature');
        if (delta['type'] !== 'thinking_delta') return [];
        const thinking = textIn(delta, 'thinking');
        block.thinking += thinking;
        return shownText('reasoning', this.#halves.push(`${index}`, thinking));
      }
      case 'call': {
        const piece = delta['type'] === 'input_json_delta' ? textIn(delta, 'partial_json') : '';
        block.args += piece;
        return shownArgs(block.key, this.#halves.push(`${index}`, piece));
      }
      case undefined:
        return [];
    }
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
        if (block.signature !== '') providerOptions['anthropic'] = { signature: block.signature };
        // thinking that is not shown still goes back with its signature
        if (block.thinking === '') return [{ type: 'redacted-reasoning', data: '', providerOptions }];
        return thoughtEnd(rest, providerOptions);
      }
      case 'call': {
        const { key, providerId, name } = block;
        const isWhole = block.args === '' && isRecord(block.whole) && Object.keys(block.whole).length > 0;
        const args = isWhole ? JSON.stringify(block.whole) : block.args.toWellFormed();
        const providerOptions = originOptions(this.#model, providerId);
        return [{ type: 'tool-call', key, providerId, name, args, providerOptions }];
      }
    }
  }
}
