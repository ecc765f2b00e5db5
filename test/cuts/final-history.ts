import { fromBinary, toJsonString } from '@bufbuild/protobuf';
import { blobKey, isBlobId } from '@tandem/protocol';
import {
  ConversationStepSchema,
  ConversationTurnStructureSchema,
  TodoItemSchema,
  UserMessageSchema,
} from '@tandem/protocol/agent';
import type { ConversationStateStructure } from '@tandem/protocol/agent';
import { hash } from 'node:crypto';
import { Memo } from './memo.ts';

/** Strings above this are compared by their hash: a difference is found as surely, and a line can still be read. */
const LONG = /"(?:[^"\\]|\\.){2000,}"/g;

/** Texts by blob; the same blob is in many plays. */
const texts = new Memo<string>(5_000);

/**
 * A state as lines to compare: the history, its display side, todos, pending calls and tokens, each blob in place of its
 * reference. Ids are numbered in the order they appear; times, and how often a command ran, are left out.
 */
export function historyLines(state: ConversationStateStructure, blobs: ReadonlyMap<string, Uint8Array>): string[] {
  const lines = rawHistoryLines(state, blobs);
  const ids = new Map<string, string>();
  const numbered = (id: string) => {
    if (!ids.has(id)) ids.set(id, `id-${ids.size + 1}`);
    return ids.get(id)!;
  };
  return lines.map(line => line.replace(/\b(?:call|uuid)_\d+\b/g, numbered).replace(/\(run \d+\)/g, '(run)'));
}

/** The results of tool calls in a history, as JSON by call id. */
export function resultsByCall(
  state: ConversationStateStructure,
  blobs: ReadonlyMap<string, Uint8Array>,
): Map<string, string> {
  return new Map(state.rootPromptMessagesJson.flatMap(reference => resultsIn(reference, blobs)));
}

/** Results by the blob that holds them. */
const results = new Memo<readonly (readonly [string, string])[]>(1_000);

function resultsIn(
  reference: Uint8Array,
  blobs: ReadonlyMap<string, Uint8Array>,
): readonly (readonly [string, string])[] {
  return results.get(rootKey(reference), () => {
    const { content } = JSON.parse(Buffer.from(dataOf(reference, blobs)).toString('utf8')) as { content: unknown };
    const parts = Array.isArray(content) ? (content as { type?: string; toolCallId?: string }[]) : [];
    return parts.flatMap(part =>
      part.type === 'tool-result' && part.toolCallId !== undefined
        ? [[part.toolCallId, JSON.stringify(part)] as const]
        : [],
    );
  });
}

/** What a root refers to, whether by reference or inline. */
export function rootKey(root: Uint8Array): string {
  return isBlobId(root) ? blobKey(root) : hash('sha256', root);
}

function rawHistoryLines(state: ConversationStateStructure, blobs: ReadonlyMap<string, Uint8Array>): string[] {
  const text = (reference: Uint8Array, what: string, read: (data: Uint8Array) => string): string => {
    return texts.get(`${what} ${rootKey(reference)}`, () => plain(read(dataOf(reference, blobs))));
  };
  const lines = state.rootPromptMessagesJson.map(
    (root, index) => `root ${index}: ${text(root, 'json', data => Buffer.from(data).toString('utf8'))}`,
  );
  state.turns.forEach((reference, index) => {
    const { turn } = fromBinary(ConversationTurnStructureSchema, dataOf(reference, blobs));
    if (turn.case !== 'agentConversationTurn') return;
    lines.push(
      `turn ${index}: ${text(turn.value.userMessage, 'user', data => toJsonString(UserMessageSchema, fromBinary(UserMessageSchema, data)))}`,
    );
    turn.value.steps.forEach((step, at) => {
      lines.push(
        `turn ${index} step ${at}: ${text(step, 'step', data => toJsonString(ConversationStepSchema, fromBinary(ConversationStepSchema, data)))}`,
      );
    });
  });
  for (const todo of state.todos)
    lines.push(`todo: ${text(todo, 'todo', data => toJsonString(TodoItemSchema, fromBinary(TodoItemSchema, data)))}`);
  for (const pending of state.pendingToolCalls) lines.push(`pending: ${pending}`);
  lines.push(`tokens: ${state.tokenDetails?.usedTokens} of ${state.tokenDetails?.maxTokens}`);
  return lines;
}

function dataOf(reference: Uint8Array, blobs: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const data = isBlobId(reference) ? blobs.get(blobKey(reference)) : reference;
  if (!data)
    throw new Error(
      `the final history refers to blob ${blobKey(reference).slice(0, 12)}, which the client does not have`,
    );
  return data;
}

/** Times out, long strings short. */
function plain(json: string): string {
  return json
    .replace(
      /,?"(startedAtMs|completedAtMs|createdAt|updatedAt|durationMs|executionTime|localExecutionTimeMs|runtimeMs)":"?\d+"?/g,
      '',
    )
    .replace(LONG, long => `"${long.length} characters, sha256 ${hash('sha256', long).slice(0, 16)}"`);
}
