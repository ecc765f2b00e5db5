import { create, toBinary } from '@bufbuild/protobuf';
import {
  ConversationTokenDetailsSchema,
  PromptContextUsageSnapshotSchema,
  PromptContextUsageTreeSchema,
} from '@tandem/protocol/agent';
import type { ConversationTokenDetails, PromptContextUsageTree } from '@tandem/protocol/agent';
import { isPart } from '@tandem/protocol/message';
import type { MessagePart, ModelMessage } from '@tandem/protocol/message';
import { tokensOf } from '../usage/estimate.ts';

/** Characters of the prompt by what they are; the provider counts tokens only in all. */
export interface PromptSize {
  readonly id: string;
  readonly label: string;
  readonly characters: number;
}

const LABELS = {
  system: 'System prompt',
  tools: 'Tool definitions',
  context: 'Workspace context',
  conversation: 'Conversation',
  results: 'Tool results',
} as const;

/** A message is counted once, in whatever turn: the messages of a conversation at work stay in memory. */
const counted = new WeakMap<ModelMessage, number>();

/** Characters of a message: its texts, and what its other parts are as JSON. */
export function charactersOf(message: ModelMessage): number {
  const { content } = message;
  if (typeof content === 'string') return content.length;
  let characters = counted.get(message);
  if (characters === undefined) {
    characters = content.reduce((sum, part) => sum + charactersOfPart(part), 0);
    counted.set(message, characters);
  }
  return characters;
}

function charactersOfPart(part: MessagePart): number {
  if (isPart(part, 'text') || isPart(part, 'reasoning')) return part.text.length;
  if (isPart(part, 'tool-result') && typeof part.result === 'string') return part.result.length;
  return JSON.stringify(part).length;
}

/** Measures what a model call is made of. `noteOf` tells the notes that the server added (context) from what people wrote. */
export function measurePrompt(
  messages: readonly ModelMessage[],
  toolCharacters: number,
  isNote: (message: ModelMessage) => boolean,
): PromptSize[] {
  const sizes = { system: 0, tools: toolCharacters, context: 0, conversation: 0, results: 0 };
  for (const message of messages) {
    const kind =
      message.role === 'system'
        ? 'system'
        : message.role === 'tool'
          ? 'results'
          : isNote(message)
            ? 'context'
            : 'conversation';
    sizes[kind] += charactersOf(message);
  }
  return Object.entries(sizes).map(([id, characters]) => ({
    id,
    label: LABELS[id as keyof typeof LABELS],
    characters,
  }));
}

/** Tokens estimated from characters. */
export function estimateTokens(sizes: readonly PromptSize[]): number {
  return tokensOf(sizes.reduce((sum, { characters }) => sum + characters, 0));
}

/**
 * `token_details` (R51): the categories share `usedTokens` by their characters and add up to it exactly; what rounding leaves
 * over goes to the largest remainders.
 */
export function tokenDetails(
  usedTokens: number,
  maxTokens: number,
  sizes: readonly PromptSize[],
): ConversationTokenDetails {
  const total = sizes.reduce((sum, { characters }) => sum + characters, 0);
  const shares = sizes.map(({ characters }) => (total === 0 ? 0 : (usedTokens * characters) / total));
  const tokens = shares.map(Math.floor);
  let left = usedTokens - tokens.reduce((sum, n) => sum + n, 0);
  const byRemainder = shares
    .map((share, index) => ({ index, rest: share - Math.floor(share) }))
    .sort((a, b) => b.rest - a.rest);
  for (let i = 0; left > 0; i = (i + 1) % byRemainder.length, left--) tokens[byRemainder[i]!.index]!++;
  return create(ConversationTokenDetailsSchema, {
    usedTokens,
    maxTokens,
    breakdown: {
      totalUsedTokens: usedTokens,
      maxTokens,
      categories: sizes.map(({ id, label, characters }, index) => ({
        id,
        label,
        estimatedTokens: tokens[index]!,
        characterCount: characters,
      })),
    },
  });
}

/** The id of the node above all others; no category has it. */
const ROOT_NODE = 'window';

/**
 * Adds what a client that asks GetPromptContextUsage works with: the tree of what fills the window, and the id of the snapshot
 * that puts the tree beside the messages it was counted from. `put` takes the snapshot in and returns its id.
 */
export function addContextUsage(
  details: ConversationTokenDetails,
  rootMessages: readonly Uint8Array[],
  put: (data: Uint8Array) => Uint8Array,
): void {
  const tree = contextUsageTree(details);
  const snapshot = create(PromptContextUsageSnapshotSchema, {
    promptContextUsageTree: tree,
    rootPromptMessagesJson: [...rootMessages],
  });
  details.promptContextUsageTree = tree;
  details.promptContextUsageSnapshotBlobId = put(toBinary(PromptContextUsageSnapshotSchema, snapshot));
}

/** The breakdown as a tree: the whole window at the root, one node a category below it; they add up to the root exactly. */
function contextUsageTree({ usedTokens, breakdown }: ConversationTokenDetails): PromptContextUsageTree {
  const categories = breakdown?.categories ?? [];
  const characterCount = categories.reduce((sum, category) => sum + (category.characterCount ?? 0), 0);
  return create(PromptContextUsageTreeSchema, {
    schemaVersion: 1,
    nodes: [
      { id: ROOT_NODE, kind: 'root', label: 'Context window', estimatedTokens: usedTokens, characterCount },
      ...categories.map(({ id, label, estimatedTokens, characterCount: characters = 0 }) => ({
        id,
        parentId: ROOT_NODE,
        kind: 'category',
        label,
        categoryId: id,
        estimatedTokens,
        characterCount: characters,
      })),
    ],
  });
}
