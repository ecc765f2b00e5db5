import { clone, create } from '@bufbuild/protobuf';
import { collectBlobIds } from '@tandem/protocol';
import { ConversationStateStructureSchema } from '@tandem/protocol/agent';
import type { ConversationStateStructure } from '@tandem/protocol/agent';
import { serverMessage } from '../bridge/outbox.ts';
import type { Outbox } from '../bridge/outbox.ts';
import type { RunBlobs } from './blobs.ts';

/**
 * The state of the conversation as the client will have it (§21). What the client brought and we do not own stays as it is,
 * unknown fields included.
 */
export class Checkpoint {
  readonly #outbox: Outbox;
  readonly #blobs: RunBlobs;
  readonly #state: ConversationStateStructure;

  constructor(options: { outbox: Outbox; blobs: RunBlobs; brought: ConversationStateStructure | undefined }) {
    this.#outbox = options.outbox;
    this.#blobs = options.blobs;
    this.#state = options.brought
      ? clone(ConversationStateStructureSchema, options.brought)
      : create(ConversationStateStructureSchema);
    // the two long lists are taken as they are; whatever else refers to a blob is looked for
    const { rootPromptMessagesJson, turns } = this.#state;
    const rest = { ...this.#state, rootPromptMessagesJson: [], turns: [] };
    for (const ids of [rootPromptMessagesJson, turns, collectBlobIds(ConversationStateStructureSchema, rest)])
      this.#blobs.holds(ids);
  }

  /** The state as it stands; changes become visible to the client with the next publish. */
  get state(): ConversationStateStructure {
    return this.#state;
  }

  /**
   * Publishes the state once every blob that it newly refers to was acknowledged (R42). Publishing again what was published
   * before is allowed: a checkpoint is a whole view (§23).
   */
  async publish(): Promise<void> {
    await this.#blobs.flush();
    // encoded at once by whoever implements the outbox, so the state may change right after
    this.#outbox.append(serverMessage({ case: 'conversationCheckpointUpdate', value: this.#state }));
  }
}
