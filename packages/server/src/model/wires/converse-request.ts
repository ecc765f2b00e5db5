import type { ImageData } from '../image.ts';
import { thinkingOf } from '../effort.ts';
import { LONGEST_UNASKED } from '../limits.ts';
import type { ModelRequest } from '../port.ts';
import { toolSchema } from '../tool-schema.ts';
import type { OutlineMessage, OutlineResult, SeenPart, WrittenPart } from './outline.ts';
import { outlineOf } from './outline.ts';
import { alternateTurns, mayThink } from './turns.ts';
import type { Turn } from './turns.ts';
import type { WireTarget } from './wire.ts';

type Block = Record<string, unknown>;

const CACHED: Block = { cachePoint: { type: 'default' } };
/** Families that take cache points; for the others they are an error. */
const TAKES_CACHE = /anthropic\.claude|amazon\.nova/;

/** A Converse request of Amazon Bedrock: the Messages wire in other words, with cache points as blocks of their own. */
export function writeConverseBody(request: ModelRequest, target: WireTarget): Record<string, unknown> {
  const outline = outlineOf(request.messages, target);
  const first = outline.findIndex(message => message.role !== 'system');
  const system = outline
    .slice(0, first < 0 ? outline.length : first)
    .flatMap((message): Block[] => (message.role === 'system' && message.text !== '' ? [{ text: message.text }] : []));
  const messages = alternateTurns<Block>(first < 0 ? [] : outline.slice(first), blocksOf, text => ({ text }));
  const longest = target.maxOutput ?? Math.min(target.info.maxOutput, LONGEST_UNASKED);
  const isClaude = /anthropic\.claude/.test(target.info.id);
  const hasThought = (block: Block | undefined) => block?.['reasoningContent'] !== undefined;
  const isFree = mayThink(messages, block => block['toolResult'] !== undefined, hasThought);
  const extra = isClaude && isFree ? thinkingOf(request.parameters, target.info.id, longest) : {};
  // calls in the history want their tools described, also when none is offered any more
  const tools = request.tools.length > 0 || !hasCalls(messages) ? request.tools : [PLACEHOLDER];
  if (TAKES_CACHE.test(target.info.id)) markCache(system, messages);
  return {
    ...(system.length > 0 && { system }),
    messages,
    ...(tools.length > 0 && {
      toolConfig: {
        tools: tools.map(({ name, description, parameters }) => ({
          toolSpec: {
            name,
            description: description.toWellFormed(),
            inputSchema: { json: toolSchema(parameters, target.quirks.schema) },
          },
        })),
      },
    }),
    inferenceConfig: { maxTokens: longest },
    ...(Object.keys(extra).length > 0 && { additionalModelRequestFields: extra }),
  };
}

const PLACEHOLDER = {
  name: 'no_tool',
  description: 'No tool is offered any more. Do not call this one.',
  parameters: { type: 'object' },
};

function hasCalls(messages: readonly Turn<Block>[]): boolean {
  return messages.some(({ content }) => content.some(block => block['toolUse'] !== undefined));
}

function blocksOf(message: OutlineMessage): Block[] {
  switch (message.role) {
    case 'system':
      return message.text === '' ? [] : [{ text: message.text }];
    case 'user':
      return message.parts.map(seenBlock);
    case 'assistant':
      return message.parts.flatMap(writtenBlock);
    case 'tool':
      return message.results.map(resultBlock);
  }
}

function seenBlock(part: SeenPart): Block {
  return part.kind === 'text' ? { text: part.text } : imageBlock(part.image);
}

function imageBlock(image: ImageData): Block {
  if ('url' in image) return { text: `[An image at ${image.url} was here. This provider takes no addresses.]` };
  return { image: { format: image.mediaType.replace('image/', ''), source: { bytes: image.base64 } } };
}

function writtenBlock(part: WrittenPart): Block[] {
  switch (part.kind) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ text: part.text }];
    case 'reasoning':
    case 'redacted': {
      const signature = part.options['bedrock']?.['signature'];
      if (typeof signature === 'string') {
        const text = part.kind === 'reasoning' ? part.text : '';
        return [{ reasoningContent: { reasoningText: { text, signature } } }];
      }
      return part.kind === 'redacted' && part.data !== '' ? [{ reasoningContent: { redactedContent: part.data } }] : [];
    }
    case 'call':
      return [{ toolUse: { toolUseId: part.id, name: part.name, input: part.args } }];
  }
}

function resultBlock(result: OutlineResult): Block {
  const text = result.text === '' ? [] : [{ text: result.text }];
  const content = [...text, ...result.images.map(imageBlock)];
  return { toolResult: { toolUseId: result.id, content, ...(result.isError && { status: 'error' }) } };
}

function markCache(system: Block[], messages: readonly Turn<Block>[]): void {
  if (system.length > 0) system.push(CACHED);
  for (const { content } of messages.filter(({ role }) => role === 'user').slice(-2)) content.push(CACHED);
}
