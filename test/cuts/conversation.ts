import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ConversationStateStructureSchema, UserMessageSchema } from '@tandem/protocol/agent';
import type { Hands } from './hands.ts';

/** What the model does in one call, in this order. `args` as a string is raw argument text, valid or not. */
export interface Said {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: object | string }[];
}

/** One turn: the user's words, which no other turn has, and the model calls that answer them. */
export interface ScriptedTurn {
  readonly says: string;
  /** More of the user message: images. */
  readonly message?: MessageInitShape<typeof UserMessageSchema>;
  readonly answers: readonly Said[];
}

/** A conversation that is played whole, uncut and with every cut. */
export interface Conversation {
  readonly name: string;
  readonly turns: readonly ScriptedTurn[];
  /** A fresh client machine. */
  hands(): Hands;
  /** The state that the first turn brings; empty by default. */
  state?(): MessageInitShape<typeof ConversationStateStructureSchema>;
}
