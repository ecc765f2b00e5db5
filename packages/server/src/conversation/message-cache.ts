import type { ModelMessage } from '@tandem/protocol/message';
import { hash } from 'node:crypto';
import type { BlobCache, Scope } from '../store/port.ts';

/** Bytes of messages kept in memory for all conversations of a store: some hundred turns of some hundred conversations. */
const MOST_BYTES = 32 * 1024 * 1024;
/** A longer message is read anew each time: it would push many others out. */
const LONGEST_BYTES = 256 * 1024;

/**
 * Messages of conversations that were just at work, read and ready: the next turn then reads only what is new. A blob id is the
 * hash of its data, so what is kept under one never changes; messages are never changed either. The longest unused go first.
 */
export class MessageCache {
  readonly #kept = new Map<string, { readonly message: ModelMessage; readonly bytes: number }>();
  #bytes = 0;

  get(key: string): ModelMessage | undefined {
    const found = this.#kept.get(key);
    if (!found) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found.message;
  }

  put(key: string, message: ModelMessage, bytes: number): void {
    if (bytes > LONGEST_BYTES || this.#kept.has(key)) return;
    this.#kept.set(key, { message, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#kept) {
      if (this.#bytes <= MOST_BYTES) return;
      this.#kept.delete(oldest);
      this.#bytes -= freed;
    }
  }
}

const caches = new WeakMap<BlobCache, MessageCache>();

/** The messages of a store, shared by its runs. */
export function messagesOf(store: BlobCache): MessageCache {
  const known = caches.get(store) ?? new MessageCache();
  caches.set(store, known);
  return known;
}

/** What sets the messages of one scope apart from those of others: whoever lacks its key does not find what was sealed with it. */
export function scopeKey({ owner, sealKey }: Scope): string {
  return `${owner}\0${sealKey ? hash('sha256', sealKey, 'hex') : ''}\0`;
}
