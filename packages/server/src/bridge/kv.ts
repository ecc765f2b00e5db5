import { create } from '@bufbuild/protobuf';
import { blobKey, fault, fitsKv } from '@tandem/protocol';
import { GetBlobArgsSchema, KvServerMessageSchema, SetBlobArgsSchema } from '@tandem/protocol/agent';
import type { KvClientMessage, KvServerMessage } from '@tandem/protocol/agent';
import { hash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { BLOB_WAIT_MS } from '../limits.ts';
import type { Log } from '../observe/log.ts';
import { serverMessage } from './outbox.ts';
import type { Outbox } from './outbox.ts';
import { PendingTable } from './pending.ts';

/** The id of a blob: SHA-256 of its data, 32 bytes (R39). */
export function blobIdOf(data: Uint8Array): Uint8Array {
  return hash('sha256', data, 'buffer');
}

interface Question {
  readonly kind: 'getBlobArgs' | 'setBlobArgs';
  readonly id: Uint8Array;
  settle(answer: KvClientMessage | 'expired' | Error): void;
}

/** Blobs asked of and given to the client (§20, R39–R42). */
export class KvBridge {
  readonly #outbox: Outbox;
  readonly #log: Log;
  readonly #open: PendingTable<Question>;
  #over: Error | undefined;

  constructor(options: { outbox: Outbox; clock: Clock; log: Log }) {
    this.#outbox = options.outbox;
    this.#log = options.log;
    this.#open = new PendingTable(options.clock);
  }

  /** The data of a blob, or undefined when the client does not have it, says nothing in time, or sends other data (R41). */
  async get(id: Uint8Array): Promise<Uint8Array | undefined> {
    const answer = await this.#ask('getBlobArgs', id, {
      case: 'getBlobArgs',
      value: create(GetBlobArgsSchema, { blobId: id }),
    });
    if (answer === 'expired' || answer.message.case !== 'getBlobResult') {
      this.#log.warn(
        { blob: blobKey(id), answer: answer === 'expired' ? 'none' : (answer.message.case ?? 'unset') },
        'a blob was not given',
      );
      return undefined;
    }
    const { blobData, error } = answer.message.value;
    const data = blobData ?? new Uint8Array(0);
    if (error === undefined && Buffer.compare(blobIdOf(data), id) === 0) return data;
    if (data.length > 0) this.#log.warn({ blob: blobKey(id), bytes: data.length }, 'a blob is not what its id says');
    return undefined;
  }

  /**
   * Gives a blob to the client; resolves once it was acknowledged.
   * @throws Fault `blob_rejected` when the client refused it or did not answer: whoever refers to it must not be published (R42).
   */
  async set(id: Uint8Array, data: Uint8Array): Promise<void> {
    const answer = await this.#ask('setBlobArgs', id, {
      case: 'setBlobArgs',
      value: create(SetBlobArgsSchema, { blobId: id, blobData: data }),
    });
    const what = `blob ${blobKey(id).slice(0, 16)} (${data.length} bytes)`;
    if (answer === 'expired') {
      throw fault(
        'blob_rejected',
        `The client did not acknowledge ${what} within ${BLOB_WAIT_MS / 1000} s. The last checkpoint is still good: send the message again.`,
      );
    }
    if (answer.message.case !== 'setBlobResult') {
      throw fault(
        'blob_rejected',
        `The client answered ${answer.message.case ?? 'nothing'} to set_blob of ${what}; set_blob_result was expected.`,
      );
    }
    const { error } = answer.message.value;
    if (error) {
      throw fault(
        'blob_rejected',
        `The client could not store ${what}: ${error.message || 'no reason given'}. The last checkpoint is still good: make room and send the message again.`,
      );
    }
  }

  async #ask(
    kind: Question['kind'],
    id: Uint8Array,
    message: KvServerMessage['message'],
  ): Promise<KvClientMessage | 'expired'> {
    if (this.#over) throw this.#over;
    return new Promise((resolve, reject) => {
      const settle: Question['settle'] = answer => (answer instanceof Error ? reject(answer) : resolve(answer));
      const pending = this.#open.open({ kind, id, settle }, { waitMs: BLOB_WAIT_MS, maxMs: BLOB_WAIT_MS * 10 }, () =>
        settle('expired'),
      );
      this.#outbox.append(
        serverMessage({ case: 'kvServerMessage', value: create(KvServerMessageSchema, { id: pending.id, message }) }),
      );
    });
  }

  /** An answer of the client. Answers to nobody are logged; one of the wrong branch settles its question as unanswered (§22.4). */
  deliver(message: KvClientMessage): void {
    const pending = this.#open.get(message.id);
    if (!pending) {
      this.#log.warn({ id: message.id, branch: message.message.case }, 'a kv answer to no open question was ignored');
      return;
    }
    this.#open.close(message.id);
    if (message.message.case !== undefined && !fitsKv(pending.value.kind, message.message.case)) {
      this.#log.warn(
        { id: message.id, asked: pending.value.kind, got: message.message.case },
        'a kv answer of the wrong kind',
      );
    }
    pending.value.settle(message);
  }

  /** A heartbeat of the client: it is there, its answers may still come. */
  renew(): void {
    this.#open.renewAll();
  }

  /** Ends every open question and refuses further ones. */
  close(reason: Error): void {
    this.#over = reason;
    this.#open.drain(pending => pending.value.settle(reason));
  }
}
