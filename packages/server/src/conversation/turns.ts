import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { blobKey, fault, isBlobId } from '@tandem/protocol';
import {
  AgentConversationTurnStructureSchema,
  ConversationStepSchema,
  ConversationTurnStructureSchema,
  UserMessageSchema,
} from '@tandem/protocol/agent';
import type { AgentConversationTurnStructure, ConversationStep, UserMessage } from '@tandem/protocol/agent';
import type { RunBlobs } from './blobs.ts';

/** The display side of the history (`turns[]`, R46): earlier turns as they came, and the one that is being written. */
export class Turns {
  readonly #blobs: RunBlobs;
  readonly #earlier: readonly Uint8Array[];
  #current: AgentConversationTurnStructure | undefined;

  private constructor(blobs: RunBlobs, earlier: readonly Uint8Array[], current?: AgentConversationTurnStructure) {
    this.#blobs = blobs;
    this.#earlier = earlier;
    this.#current = current;
  }

  /** A new turn follows the ones of the state. */
  static after(blobs: RunBlobs, references: readonly Uint8Array[]): Turns {
    return new Turns(blobs, references);
  }

  /**
   * The last turn of the state goes on (a resumed run). Without one, or with one that is no agent turn, steps start a new turn.
   * @throws Fault `blob_missing` or `bad_state`.
   */
  static async resume(blobs: RunBlobs, references: readonly Uint8Array[]): Promise<Turns> {
    const last = references.at(-1);
    if (!last) return new Turns(blobs, references);
    const [found] = await blobs.getAll([last]);
    const { data, inline } = found!;
    try {
      const { turn } = fromBinary(ConversationTurnStructureSchema, data);
      if (turn.case === 'agentConversationTurn') return new Turns(blobs, references.slice(0, -1), turn.value);
      return new Turns(blobs, references);
    } catch (cause) {
      const where = `turns[${references.length - 1}]`;
      throw inline && isBlobId(last)
        ? fault(
            'blob_missing',
            `${where} refers to blob ${blobKey(last)}, which neither the client nor this server has. Go back to an earlier checkpoint.`,
            { cause },
          )
        : fault(
            'bad_state',
            `${where} is no conversation turn. Go back to an earlier checkpoint, or start a new conversation.`,
            { cause },
          );
    }
  }

  /** Opens the turn of a user message. */
  begin(message: UserMessage, requestId: string): void {
    this.#current = create(AgentConversationTurnStructureSchema, {
      userMessage: this.#blobs.put(toBinary(UserMessageSchema, message)),
      requestId,
      ...(message.messageId ? { userMessageId: message.messageId } : {}),
    });
  }

  append(message: ConversationStep['message'] | { case: ConversationStep['message']['case']; value: object }): void {
    this.#current ??= create(AgentConversationTurnStructureSchema, {});
    const step = create(ConversationStepSchema, { message } as { message: ConversationStep['message'] });
    this.#current.steps.push(this.#blobs.put(toBinary(ConversationStepSchema, step)));
  }

  /** For `turns`; the current turn is put anew, since its steps grew. */
  references(): Uint8Array[] {
    if (!this.#current) return [...this.#earlier];
    const turn = create(ConversationTurnStructureSchema, {
      turn: { case: 'agentConversationTurn', value: this.#current },
    });
    return [...this.#earlier, this.#blobs.put(toBinary(ConversationTurnStructureSchema, turn))];
  }
}
