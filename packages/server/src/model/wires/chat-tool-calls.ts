import { TOOL_CALLS } from '../limits.ts';
import { UNNAMED } from './answer-events.ts';

/** One piece of a tool call as a chat-completions stream sends it; every field may be missing or wrong. */
export interface ToolCallPiece {
  index?: unknown;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
  /** Google's place for the signature of a thought, which must come back with the call. */
  extra_content?: unknown;
}

/** A piece whose owner is known: `index` is unique in the answer, `id` and `name` come with the first piece only. */
export interface OwnedPiece {
  index: number;
  id?: string;
  name?: string;
  text: string;
}

/** A call as far as it has come. */
export interface Call {
  /** Its place in the answer, counted from 0. */
  readonly index: number;
  /** The provider's own, which may be empty or used twice. */
  id: string;
  name: string;
  text: string;
  announced: boolean;
  extra?: unknown;
}

/**
 * Finds out which call each piece belongs to. The index decides (P11); but a named piece with another id, or with another name,
 * or with the same name after complete arguments, begins a new call: some providers give every call index 0, some
 * give none (P09). A call is announced once its name is known.
 */
export class ToolCallPieces {
  #calls: Call[] = [];
  /** The newest call of each index that the provider used. */
  #byIndex = new Map<number, Call>();

  /** Whether the answer has any call. */
  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  /** The calls of the answer in the order in which they began. */
  get all(): readonly Readonly<Call>[] {
    return this.#calls;
  }

  /** The piece as its call's, or undefined while there is nothing to say of it. */
  push(piece: ToolCallPiece): OwnedPiece | undefined {
    const index = toIndex(piece.index);
    const id = typeof piece.id === 'string' ? piece.id : '';
    const name = typeof piece.function?.name === 'string' ? piece.function.name.trim() : '';
    const text = toText(piece.function?.arguments);
    const call = this.#find(index, id, name, text) ?? this.#begin(id);
    if (call === undefined) return undefined;
    if (index !== undefined) this.#byIndex.set(index, call);
    if (call.id === '') call.id = id;
    if (call.name === '') call.name = name;
    call.text += text;
    call.extra ??= piece.extra_content;
    if (call.announced) return text === '' ? undefined : { index: call.index, text };
    return call.name === '' ? undefined : announce(call);
  }

  /**
   * What a whole message that comes after pieces adds to its call at this place: the arguments, or the end of them, that no
   * piece brought (F31). What the pieces said already stays said.
   */
  complete(piece: ToolCallPiece, place: number): OwnedPiece | undefined {
    const id = typeof piece.id === 'string' ? piece.id.trim() : '';
    const call = (id === '' ? undefined : this.#calls.find(one => one.id === id)) ?? this.#calls[place];
    const text = toText(piece.function?.arguments);
    if (!call?.announced || text.length <= call.text.length || !text.startsWith(call.text)) return undefined;
    const rest = text.slice(call.text.length);
    call.text = text;
    return { index: call.index, text: rest };
  }

  /** What is left to say of calls that were never named. */
  finish(): OwnedPiece[] {
    return this.#calls
      .filter(call => !call.announced)
      .map(call => {
        call.name = UNNAMED;
        return announce(call);
      });
  }

  #find(index: number | undefined, id: string, name: string, text: string): Call | undefined {
    const sameId = id.trim() === '' ? undefined : this.#calls.findLast(call => call.id === id);
    const sameIndex = index === undefined ? undefined : this.#byIndex.get(index);
    if (name === '') {
      if (sameIndex && (id.trim() === '' || sameIndex.id === id)) return sameIndex;
      return sameId ?? sameIndex ?? (index === undefined ? this.#calls.at(-1) : undefined);
    }
    const candidate = index === undefined ? (sameId ?? this.#calls.at(-1)) : sameIndex;
    if (candidate === undefined || candidate.name === '') return candidate;
    const isOtherId = id.trim() !== '' && candidate.id.trim() !== '' && candidate.id !== id;
    if (isOtherId || candidate.name !== name) return undefined;
    // The same name again: the next call if the one before is whole, else a provider that repeats itself.
    if (isComplete(candidate.text) && text.trim() !== '') return undefined;
    return index === undefined && candidate.text.trim() === '' ? undefined : candidate;
  }

  #begin(id: string): Call | undefined {
    if (this.#calls.length >= TOOL_CALLS) return undefined;
    const call: Call = { index: this.#calls.length, id, name: '', text: '', announced: false };
    this.#calls.push(call);
    return call;
  }
}

function announce(call: Call): OwnedPiece {
  call.announced = true;
  return { index: call.index, id: call.id, name: call.name, text: call.text };
}

function isComplete(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // a brace inside the arguments
  }
}

function toIndex(index: unknown): number | undefined {
  const number = typeof index === 'string' && index !== '' ? Number(index) : index;
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined;
}

/** Some providers give the arguments as the object that they should encode. */
function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : '';
}
