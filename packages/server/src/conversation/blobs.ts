import { blobKey, isBlobId } from '@tandem/protocol';
import { breathe } from '../breathe.ts';
import type { ModelMessage } from '@tandem/protocol/message';
import { blobIdOf } from '../bridge/kv.ts';
import type { KvBridge } from '../bridge/kv.ts';
import { BLOB_GETS_AT_ONCE } from '../limits.ts';
import type { BlobCache, Scope } from '../store/port.ts';
import { messagesOf, scopeKey } from './message-cache.ts';
import type { MessageCache } from './message-cache.ts';

/**
 * The blobs of one run: what it was given along, what the server has cached, what the client holds, asked in that order
 * (R41, R43). New blobs wait here until a checkpoint is about to name them.
 */
export class RunBlobs {
  readonly #kv: KvBridge;
  readonly #cache: BlobCache;
  readonly #scope: Scope;
  readonly #messages: MessageCache;
  readonly #scopeKey: string;
  /** Ids that the client has: it brought them, gave them, or acknowledged them. */
  readonly #held = new Set<string>();
  /** Made in this run, not yet given to the client. */
  readonly #fresh = new Map<string, { id: Uint8Array; data: Uint8Array }>();
  readonly #given = new Map<string, Uint8Array>();

  constructor(options: {
    kv: KvBridge;
    cache: BlobCache;
    scope: Scope;
    preFetched: readonly { id: Uint8Array; value: Uint8Array }[];
  }) {
    this.#kv = options.kv;
    this.#cache = options.cache;
    this.#scope = options.scope;
    this.#messages = messagesOf(options.cache);
    this.#scopeKey = scopeKey(options.scope);
    for (const { id, value } of options.preFetched) {
      // what was sent along is believed only as far as its hash goes (R41)
      if (isBlobId(id) && Buffer.compare(blobIdOf(value), id) === 0) this.#given.set(blobKey(id), value);
    }
  }

  /** The client refers to these, so it has them. */
  holds(ids: Iterable<Uint8Array>): void {
    for (const id of ids) if (isBlobId(id)) this.#held.add(blobKey(id));
  }

  /** The data behind an id, or undefined when nobody has it. */
  async get(id: Uint8Array): Promise<Uint8Array | undefined> {
    const key = blobKey(id);
    const near = this.#fresh.get(key)?.data ?? this.#given.get(key) ?? (await this.#cache.get(this.#scope, id));
    if (near) return near;
    const data = await this.#kv.get(id);
    if (data) {
      this.#held.add(key);
      await this.#cache.put(this.#scope, [{ id, data }]);
    }
    return data;
  }

  /**
   * The data behind each reference, in order. A reference of another length than 32 bytes, or one that nobody has, may be the
   * data itself (R39): it comes back as `inline`.
   */
  async getAll(references: readonly Uint8Array[]): Promise<{ data: Uint8Array; inline: boolean }[]> {
    const out: { data: Uint8Array; inline: boolean }[] = new Array(references.length);
    let next = 0;
    const worker = async () => {
      for (let index = next++; index < references.length; index = next++) {
        const reference = references[index]!;
        const found = isBlobId(reference) ? await this.get(reference) : undefined;
        out[index] = found ? { data: found, inline: false } : { data: reference, inline: true };
      }
    };
    await Promise.all(Array.from({ length: Math.min(BLOB_GETS_AT_ONCE, references.length) }, worker));
    return out;
  }

  /** The message behind an id, if it was read a short while ago. */
  message(id: Uint8Array): ModelMessage | undefined {
    return isBlobId(id) ? this.#messages.get(this.#scopeKey + blobKey(id)) : undefined;
  }

  /** Remembers what was read from the data of an id. The message must not change any more. */
  keepMessage(id: Uint8Array, message: ModelMessage, bytes: number): void {
    this.#messages.put(this.#scopeKey + blobKey(id), message, bytes);
  }

  /** Takes in new data; returns its id. It travels with the next checkpoint, if the client does not have it yet. */
  put(data: Uint8Array): Uint8Array {
    const id = blobIdOf(data);
    const key = blobKey(id);
    if (!this.#held.has(key) && !this.#fresh.has(key)) this.#fresh.set(key, { id, data });
    return id;
  }

  /**
   * Gives the client every new blob and waits for all acknowledgements: the barrier in front of a checkpoint (R42).
   * @throws Fault `blob_rejected` when one was refused.
   */
  async flush(): Promise<void> {
    const blobs = [...this.#fresh.values()];
    if (blobs.length === 0) return;
    const acknowledged: Promise<void>[] = [];
    for (const { id, data } of blobs) {
      const one = this.#kv.set(id, data);
      one.catch(() => undefined); // told below: it may be refused while the next one is written
      acknowledged.push(one);
      await breathe(data.length);
    }
    await Promise.all(acknowledged);
    for (const { id } of blobs) {
      this.#fresh.delete(blobKey(id));
      this.#held.add(blobKey(id));
    }
    await this.#keep(blobs);
  }

  /** Small blobs go into the cache together, each long one by itself. */
  async #keep(blobs: readonly { id: Uint8Array; data: Uint8Array }[]): Promise<void> {
    let together: { id: Uint8Array; data: Uint8Array }[] = [];
    for (const blob of blobs) {
      together.push(blob);
      const pause = breathe(blob.data.length);
      if (!pause) continue;
      await pause;
      await this.#cache.put(this.#scope, together);
      await breathe(blob.data.length);
      together = [];
    }
    await this.#cache.put(this.#scope, together);
  }
}
