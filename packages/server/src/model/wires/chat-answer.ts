import { CharacterHalves } from '../halves.ts';
import { originOptions } from '../origin.ts';
import type { FinishReason, ModelEvent, ModelInfo } from '../port.ts';
import type { ServerSentEvent } from '../server-sent-events.ts';
import { usageOfChat } from '../usage.ts';
import type { OwnedPiece, ToolCallPiece } from './chat-tool-calls.ts';
import { ToolCallPieces } from './chat-tool-calls.ts';
import { shownArgs, shownText, thoughtEnd } from './answer-events.ts';
import { isRecord, readEvent, textIn } from './event-json.ts';
import type { AnswerReader, StreamError } from './wire.ts';

type Json = Record<string, unknown>;

/** Reasons that are told otherwise than as the end of the answer or its calls. */
const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content-filter'],
  ['safety', 'content-filter'],
  ['SAFETY', 'content-filter'],
  ['refusal', 'refusal'],
]);

/**
 * Reads a chat-completions answer in the many dialects of the wire: deltas, or a whole `message` in their place or after them (F31),
 * reasoning under several names, calls whose pieces name their call badly or not at all (P09, P11), usage in a chunk of its own or
 * beside the last one. Events and fields that nobody knows are passed over (P31).
 */
export class ChatAnswer implements AnswerReader {
  isDone = false;
  readonly #model: string;
  readonly #halves = new CharacterHalves();
  readonly #calls = new ToolCallPieces();
  /** What is being shown: its end comes with the beginning of the other. */
  #showing: 'text' | 'reasoning' | undefined;
  #hasText = false;
  #hasReasoning = false;
  #hasRefused = false;
  #reason: string | undefined;
  #usage: Json | undefined;

  constructor(info: ModelInfo) {
    this.#model = info.key;
  }

  push(event: ServerSentEvent): (ModelEvent | StreamError)[] {
    const value = readEvent(event);
    if (value === undefined) {
      this.isDone = event.data.trim() === '[DONE]';
      return [];
    }
    if ('failure' in value) return [value.failure];
    const { json } = value;
    const { choices } = json;
    const choice: unknown = Array.isArray(choices) ? (choices as unknown[])[0] : undefined;
    this.#usage = usageIn(json, choice) ?? this.#usage;
    if (!isRecord(choice)) return [];
    const reason = textIn(choice, 'finish_reason');
    if (reason !== '') this.#reason = reason;
    const { delta, message } = choice;
    if (isRecord(delta) && (message === undefined || Object.keys(delta).length > 0)) return this.#read(delta);
    return isRecord(message) ? this.#readWhole(message) : [];
  }

  finish(): ModelEvent[] {
    const events = [...this.#end(), ...this.#calls.finish().flatMap(piece => this.#tell(piece))];
    for (const { index, id, name, text, extra } of this.#calls.all) {
      const key = String(index);
      const rest = this.#halves.rest(`call ${key}`);
      if (rest !== '') events.push({ type: 'tool-args', key, text: rest });
      const providerOptions = originOptions(this.#model, id);
      const signature = signatureIn(extra);
      if (signature !== '') providerOptions['google'] = { thoughtSignature: signature };
      events.push({ type: 'tool-call', key, providerId: id, name, args: text.toWellFormed(), providerOptions });
    }
    events.push({ type: 'finish', reason: this.#finishReason(), usage: usageOfChat(this.#usage) });
    return events;
  }

  /** An answer with calls that says it just stopped means its calls (R57). */
  #finishReason(): FinishReason {
    if (this.#reason === undefined) return 'missing';
    const told = REASONS.get(this.#reason);
    if (told !== undefined) return told;
    if (this.#hasRefused && this.#reason === 'stop') return 'refusal';
    return this.#calls.hasCalls ? 'tool-calls' : 'stop';
  }

  #read(source: Json): ModelEvent[] {
    const { content } = source;
    const reasoning = textIn(source, 'reasoning_content') || textIn(source, 'reasoning');
    const refusal = textIn(source, 'refusal');
    const calls = callsIn(source);
    if (refusal !== '') this.#hasRefused = true;
    if (typeof content === 'string' && reasoning === '' && refusal === '' && calls.length === 0) {
      return this.#show('text', content);
    }
    return [
      ...this.#show('reasoning', reasoning),
      ...(typeof content === 'string' ? this.#show('text', content) : this.#showParts(content)),
      ...this.#show('text', refusal),
      ...calls.flatMap(piece => this.#tell(this.#calls.push(piece))),
    ];
  }

  /** Some send deltas and then the whole message again: what was said of it stays said, and calls may lack arguments (F31). */
  #readWhole(message: Json): ModelEvent[] {
    const { hasCalls } = this.#calls;
    if (!this.#hasText && !hasCalls) {
      const { reasoning: _, reasoning_content: __, ...rest } = message;
      return this.#read(this.#hasReasoning ? rest : message);
    }
    return callsIn(message).flatMap((piece, place) =>
      this.#tell(hasCalls ? this.#calls.complete(piece, place) : this.#calls.push(piece)),
    );
  }

  /** Content as a list of parts, as Mistral sends it when it thinks. */
  #showParts(content: unknown): ModelEvent[] {
    if (!Array.isArray(content)) return [];
    return (content as unknown[]).filter(isRecord).flatMap(part => {
      if (part['type'] === 'text') return this.#show('text', textIn(part, 'text'));
      if (part['type'] !== 'thinking' || !Array.isArray(part['thinking'])) return [];
      const thoughts = (part['thinking'] as unknown[]).filter(isRecord).filter(thought => thought['type'] === 'text');
      return this.#show('reasoning', thoughts.map(thought => textIn(thought, 'text')).join(''));
    });
  }

  #show(type: 'text' | 'reasoning', delta: string): ModelEvent[] {
    if (delta === '') return [];
    if (type === 'text') this.#hasText = true;
    else this.#hasReasoning = true;
    const shown = shownText(type, this.#halves.push(type, delta));
    if (this.#showing === type) return shown;
    const ended = this.#end();
    this.#showing = type;
    return [...ended, ...shown];
  }

  /** The end of what is being shown. */
  #end(): ModelEvent[] {
    const type = this.#showing;
    if (type === undefined) return [];
    this.#showing = undefined;
    const rest = this.#halves.rest(type);
    return type === 'text' ? shownText(type, rest) : thoughtEnd(rest, originOptions(this.#model));
  }

  #tell(piece: OwnedPiece | undefined): ModelEvent[] {
    if (piece === undefined) return [];
    const events: ModelEvent[] = this.#showing === 'reasoning' ? this.#end() : [];
    const key = String(piece.index);
    if (piece.name !== undefined) {
      events.push({ type: 'tool-start', key, providerId: piece.id ?? '', name: piece.name });
    }
    return [...events, ...shownArgs(key, this.#halves.push(`call ${key}`, piece.text))];
  }
}

const NO_CALLS: readonly ToolCallPiece[] = [];

function callsIn(source: Json): readonly ToolCallPiece[] {
  const { tool_calls: listed, function_call: older } = source;
  if (listed === undefined && older === undefined) return NO_CALLS;
  const pieces: unknown[] = Array.isArray(listed) ? [...(listed as unknown[])] : [];
  if (isRecord(older)) pieces.push({ function: older });
  return pieces.filter(isRecord);
}

/** The counts of a chunk, which stand at its top, where Groq puts them or beside its delta. */
function usageIn(json: Json, choice: unknown): Json | undefined {
  const { usage, x_groq: groq } = json;
  if (isRecord(usage)) return usage;
  if (isRecord(groq) && isRecord(groq['usage'])) return groq['usage'];
  return isRecord(choice) && isRecord(choice['usage']) ? choice['usage'] : undefined;
}

/** Google's place for the signature of a thought, which must come back with the call. */
function signatureIn(extra: unknown): string {
  const google = isRecord(extra) ? extra['google'] : undefined;
  return isRecord(google) ? textIn(google, 'thought_signature') : '';
}
