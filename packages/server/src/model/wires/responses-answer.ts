import { CharacterHalves } from '../halves.ts';
import { TOOL_CALLS } from '../limits.ts';
import { originOptions } from '../origin.ts';
import type { FinishReason, ModelEvent, ModelInfo } from '../port.ts';
import type { ServerSentEvent } from '../server-sent-events.ts';
import { usageOfResponses } from '../usage.ts';
import { nameIn, shownArgs, shownText, thoughtEnd } from './answer-events.ts';
import { isRecord, readEvent, textIn } from './event-json.ts';
import type { AnswerReader, StreamError } from './wire.ts';

interface Call {
  readonly key: string;
  providerId: string;
  readonly name: string;
  args: string;
  isDone: boolean;
}

/** Reads a Responses answer. Items of tools that run at the provider, and events of later versions, are passed over. */
export class ResponsesAnswer implements AnswerReader {
  isDone = false;
  readonly #model: string;
  readonly #halves = new CharacterHalves();
  /** Calls by each name that events use for their item: its index, its id. */
  readonly #byItem = new Map<string, Call>();
  readonly #calls: Call[] = [];
  /** Items of which reasoning or text was shown, by id; what a later event says whole is not said again. */
  readonly #thought = new Set<string>();
  readonly #said = new Set<string>();
  #hasRefused = false;
  #reason: FinishReason = 'missing';
  #usage: unknown;

  constructor(info: ModelInfo) {
    this.#model = info.key;
  }

  push(event: ServerSentEvent): (ModelEvent | StreamError)[] {
    const value = readEvent(event);
    if (value === undefined) return [];
    if ('failure' in value) return [value.failure];
    const json = value.json;
    const item = isRecord(json['item']) ? json['item'] : undefined;
    switch (json['type']) {
      case 'response.output_text.delta':
        this.#said.add(textIn(json, 'item_id'));
        return this.#show('text', textIn(json, 'delta'));
      case 'response.refusal.delta':
        this.#hasRefused = true;
        this.#said.add(textIn(json, 'item_id'));
        return this.#show('text', textIn(json, 'delta'));
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#think(json);
      case 'response.output_item.added':
        return item?.['type'] === 'function_call' ? this.#open(json, item) : [];
      case 'response.function_call_arguments.delta':
        return this.#grow(this.#callOf(json), textIn(json, 'delta'));
      case 'response.output_item.done':
        return item ? this.#close(json, item) : [];
      case 'response.completed':
      case 'response.incomplete':
        return this.#end(isRecord(json['response']) ? json['response'] : {});
      case 'response.failed':
        return [{ type: 'error', error: failureOf(json['response']) }];
      default:
        return [];
    }
  }

  finish(): ModelEvent[] {
    const open = this.#calls.filter(call => !call.isDone).flatMap(call => this.#closeCall(call));
    const reason =
      this.#reason === 'stop'
        ? this.#calls.length > 0
          ? 'tool-calls'
          : this.#hasRefused
            ? 'refusal'
            : 'stop'
        : this.#reason;
    return [...open, { type: 'finish', reason, usage: usageOfResponses(this.#usage) }];
  }

  #end(response: Record<string, unknown>): ModelEvent[] {
    this.isDone = true;
    this.#usage = response['usage'];
    const details = response['incomplete_details'];
    const why = isRecord(details) ? textIn(details, 'reason') : '';
    if (why === 'content_filter') this.#reason = 'content-filter';
    else this.#reason = why === '' && response['status'] !== 'incomplete' ? 'stop' : 'length';
    return [];
  }

  #show(type: 'text' | 'reasoning', delta: string): ModelEvent[] {
    return shownText(type, this.#halves.push(type, delta));
  }

  /** Each summary of one item begins on a line of its own. */
  #think(json: Record<string, unknown>): ModelEvent[] {
    const id = textIn(json, 'item_id');
    const part = `${id}/${Number(json['summary_index'] ?? json['content_index'] ?? 0)}`;
    const isNext = this.#thought.has(id) && !this.#thought.has(part);
    this.#thought.add(id).add(part);
    const events = this.#show('reasoning', textIn(json, 'delta'));
    return isNext ? [{ type: 'reasoning', text: '\n\n' }, ...events] : events;
  }

  #open(json: Record<string, unknown>, item: Record<string, unknown>): ModelEvent[] {
    if (this.#calls.length >= TOOL_CALLS) return [];
    const key = String(this.#calls.length);
    const name = nameIn(item);
    const call: Call = { key, providerId: textIn(item, 'call_id'), name, args: '', isDone: false };
    this.#calls.push(call);
    for (const place of placesOf(json, item)) this.#byItem.set(place, call);
    return [
      { type: 'tool-start', key, providerId: call.providerId, name },
      ...this.#grow(call, textIn(item, 'arguments')),
    ];
  }

  /** The call of a piece of arguments; one without a place belongs to what was begun last. */
  #callOf(json: Record<string, unknown>): Call | undefined {
    const known = placesOf(json, {}).map(place => this.#byItem.get(place));
    return known.find(call => call !== undefined) ?? this.#calls.findLast(call => !call.isDone);
  }

  /** The call of a whole item, by any place it was seen at; gateways leave out ids and indices, then by its call id. */
  #find(json: Record<string, unknown>, item: Record<string, unknown>): Call | undefined {
    const places = placesOf(json, item);
    const [callId, name] = [textIn(item, 'call_id'), textIn(item, 'name').trim()];
    const call =
      places.map(place => this.#byItem.get(place)).find(known => known !== undefined) ??
      this.#calls.find(open => !open.isDone && open.providerId === callId && (callId !== '' || open.name === name));
    if (call) for (const place of places) this.#byItem.set(place, call);
    return call;
  }

  #grow(call: Call | undefined, piece: string): ModelEvent[] {
    if (call === undefined || call.isDone || piece === '') return [];
    call.args += piece;
    return shownArgs(call.key, this.#halves.push(`call ${call.key}`, piece));
  }

  #close(json: Record<string, unknown>, item: Record<string, unknown>): ModelEvent[] {
    const id = textIn(item, 'id');
    switch (item['type']) {
      case 'function_call': {
        const known = this.#find(json, item);
        const started = known ? [] : this.#open(json, { ...item, arguments: '' });
        const call = known ?? this.#find(json, item);
        if (call === undefined || call.isDone) return started;
        if (call.providerId === '') call.providerId = textIn(item, 'call_id');
        const whole = textIn(item, 'arguments');
        if (whole !== '') call.args = whole;
        return [...started, ...this.#closeCall(call)];
      }
      case 'reasoning': {
        const { status: _, ...back } = item;
        const providerOptions = { ...originOptions(this.#model), openai: { item: back } };
        const whole = this.#thought.has(id) ? [] : this.#summaryOf(item);
        const rest = this.#halves.rest('reasoning');
        if (this.#thought.has(id)) return [...whole, ...thoughtEnd(rest, providerOptions)];
        const data = textIn(item, 'encrypted_content');
        return [...shownText('reasoning', rest), { type: 'redacted-reasoning', data, providerOptions }];
      }
      case 'message':
        return this.#said.has(id) ? shownText('text', this.#halves.rest('text')) : this.#wholeText(item);
      default:
        return [];
    }
  }

  /** Reasoning that came in no delta. */
  #summaryOf(item: Record<string, unknown>): ModelEvent[] {
    const text = textsOf(item['summary']).join('\n\n');
    if (text === '') return [];
    this.#thought.add(textIn(item, 'id'));
    return [{ type: 'reasoning', text: text.toWellFormed() }];
  }

  /** Text that came in no delta. */
  #wholeText(item: Record<string, unknown>): ModelEvent[] {
    const text = textsOf(item['content']).join('');
    return shownText('text', text.toWellFormed());
  }

  #closeCall(call: Call): ModelEvent[] {
    call.isDone = true;
    const { key, providerId, name } = call;
    const providerOptions = originOptions(this.#model, providerId);
    return [{ type: 'tool-call', key, providerId, name, args: call.args.toWellFormed(), providerOptions }];
  }
}

function placesOf(json: Record<string, unknown>, item: Record<string, unknown>): string[] {
  const places: string[] = [];
  if (typeof json['output_index'] === 'number') places.push(`#${json['output_index']}`);
  const id = textIn(json, 'item_id') || textIn(item, 'id');
  if (id !== '') places.push(id);
  return places;
}

function textsOf(parts: unknown): string[] {
  if (!Array.isArray(parts)) return [];
  return (parts as unknown[]).filter(isRecord).map(part => textIn(part, 'text') || textIn(part, 'refusal'));
}

function failureOf(response: unknown): unknown {
  const error = isRecord(response) ? response['error'] : undefined;
  return isRecord(error) ? error : { message: 'the response failed and no reason came' };
}
