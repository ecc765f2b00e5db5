import { fromBinary, toJson } from '@bufbuild/protobuf';
import type { JsonObject } from '@bufbuild/protobuf';
import { isBlobId } from '@tandem/protocol';
import {
  ConversationStepSchema,
  ConversationTurnStructureSchema,
  ToolCallSchema,
  UserMessageSchema,
} from '@tandem/protocol/agent';
import type { ConversationStateStructure, ToolCall } from '@tandem/protocol/agent';
import type { BlobStore, ToolEvent } from '@tandem/client';

/** One turn as it was shown: what was asked, and what came of it, in order. */
export interface Turn {
  readonly prompt: string;
  readonly steps: readonly Step[];
}

export type Step = { readonly type: 'text' | 'thinking'; readonly text: string } | ToolEvent;

/** The turns of a conversation, from the display side of its state (R46). What is not on this machine any more is left out. */
export async function readTurns(state: ConversationStateStructure | undefined, blobs: BlobStore): Promise<Turn[]> {
  const turns: Turn[] = [];
  for (const reference of state?.turns ?? []) {
    const bytes = await bytesOf(reference, blobs);
    const turn = bytes && fromBinary(ConversationTurnStructureSchema, bytes).turn;
    if (turn?.case !== 'agentConversationTurn') continue;
    const message = await bytesOf(turn.value.userMessage, blobs);
    const steps: Step[] = [];
    for (const [at, step] of turn.value.steps.entries()) {
      const data = await bytesOf(step, blobs);
      const shown = data && stepOf(data, `step-${turns.length}-${at}`);
      if (shown) steps.push(shown);
    }
    turns.push({ prompt: message ? fromBinary(UserMessageSchema, message).text : '', steps });
  }
  return turns;
}

/** What the first turn asked for, found by the reference to it: the title of a conversation. */
export async function firstPrompt(reference: Uint8Array | undefined, blobs: BlobStore): Promise<string> {
  const bytes = await bytesOf(reference, blobs);
  const turn = bytes && fromBinary(ConversationTurnStructureSchema, bytes).turn;
  if (turn?.case !== 'agentConversationTurn') return '';
  const message = await bytesOf(turn.value.userMessage, blobs);
  return message ? fromBinary(UserMessageSchema, message).text : '';
}

/** A reference is the id of a blob, or the data itself (§14). */
async function bytesOf(reference: Uint8Array | undefined, blobs: BlobStore): Promise<Uint8Array | undefined> {
  if (reference === undefined || reference.length === 0) return undefined;
  return isBlobId(reference) ? blobs.get(reference) : reference;
}

function stepOf(bytes: Uint8Array, id: string): Step | undefined {
  const { message } = fromBinary(ConversationStepSchema, bytes);
  switch (message.case) {
    case 'assistantMessage':
      return { type: 'text', text: message.value.text };
    case 'thinkingMessage':
      return { type: 'thinking', text: message.value.text };
    case 'toolCall':
      return toolOf(message.value, id);
    default:
      return undefined;
  }
}

function toolOf(call: ToolCall, id: string): ToolEvent | undefined {
  const field = ToolCallSchema.fields.find(({ localName }) => localName === call.tool.case);
  const card = field && (toJson(ToolCallSchema, call) as JsonObject)[field.jsonName];
  if (field === undefined || typeof card !== 'object' || card === null || Array.isArray(card)) return undefined;
  const { args, result } = card as { args?: JsonObject; result?: JsonObject };
  const branch = Object.keys(result ?? {})[0];
  const isFine = branch === undefined || /success$|^(?:complete|stillRunning|async|approved|registered)$/i.test(branch);
  return {
    type: 'tool',
    id,
    name: field.name.replace(/_tool_call$/, ''),
    status: isFine ? 'completed' : 'failed',
    ...(args && { args }),
    ...(result && { result }),
  };
}
