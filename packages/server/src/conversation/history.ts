import { blobKey, fault, isBlobId } from '@tandem/protocol';
import { parseModelMessage, toolCallsOf } from '@tandem/protocol/message';
import type { ModelMessage } from '@tandem/protocol/message';
import type { RunBlobs } from './blobs.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/** The messages of a conversation with the references that name them; it only grows (R47). */
export class History {
  readonly #blobs: RunBlobs;
  readonly #messages: ModelMessage[] = [];
  readonly #references: Uint8Array[] = [];

  constructor(blobs: RunBlobs) {
    this.#blobs = blobs;
  }

  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }
  /** For `root_prompt_messages_json`. */
  get references(): readonly Uint8Array[] {
    return this.#references;
  }

  /**
   * Reads the messages behind the references of a state (R45, R46). Inline ones become blobs.
   * @throws Fault `blob_missing` or `bad_state`, naming the entry.
   */
  static async restore(blobs: RunBlobs, references: readonly Uint8Array[]): Promise<History> {
    const history = new History(blobs);
    const known = references.map(reference => blobs.message(reference));
    const read = await blobs.getAll(references.filter((_, index) => known[index] === undefined));
    let next = 0;
    known.forEach((message, index) => {
      let reference = references[index]!;
      if (message === undefined) {
        const { data, inline } = read[next++]!;
        message = readMessage(data, inline, index, reference);
        if (inline) reference = blobs.put(Uint8Array.from(data));
        blobs.keepMessage(reference, message, data.length);
      }
      history.#messages.push(message);
      history.#references.push(reference);
    });
    return history;
  }

  /** Takes in a message; returns the bytes of its blob. */
  append(message: ModelMessage): number {
    const data = encoder.encode(JSON.stringify(message));
    this.#messages.push(message);
    const reference = this.#blobs.put(data);
    this.#references.push(reference);
    this.#blobs.keepMessage(reference, message, data.length);
    return data.length;
  }

  /** Puts another system message at the front: only when the caller asks for another prompt than the one it had. */
  replaceSystem(message: ModelMessage): void {
    const reference = this.#blobs.put(encoder.encode(JSON.stringify(message)));
    const replaced = this.#messages[0]?.role === 'system' ? 1 : 0;
    this.#messages.splice(0, replaced, message);
    this.#references.splice(0, replaced, reference);
  }

  /** The newest message, or undefined. */
  get last(): ModelMessage | undefined {
    return this.#messages.at(-1);
  }

  /** Whether the newest message is an answer that ends a turn: from the assistant, without open calls. */
  get turnIsOver(): boolean {
    return this.last?.role === 'assistant' && toolCallsOf(this.last).length === 0;
  }
}

function readMessage(data: Uint8Array, inline: boolean, index: number, reference: Uint8Array): ModelMessage {
  try {
    return parseModelMessage(JSON.parse(decoder.decode(data)));
  } catch (cause) {
    const where = `root_prompt_messages_json[${index}]`;
    if (inline && isBlobId(reference)) {
      throw fault(
        'blob_missing',
        `${where} refers to blob ${blobKey(reference)}, which neither the client nor this server has. Go back to an earlier checkpoint, or start a new conversation.`,
        { cause },
      );
    }
    const why = cause instanceof TypeError ? cause.message : 'it is not JSON';
    throw fault(
      'bad_state',
      `${where} is no model message: ${why}. Go back to an earlier checkpoint, or start a new conversation.`,
      { cause },
    );
  }
}
