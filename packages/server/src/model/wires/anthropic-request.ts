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

const CACHED = { type: 'ephemeral' };

/**
 * A Messages request. Roles alternate and the user is first and last; results come before anything else the user says; thinking
 * goes back byte for byte with its signature (P01), and nobody else's does. The cache is marked at the end of the system prompt,
 * which covers the tools before it, and at the newest two messages of the user, so that each call reads what the one before it wrote.
 */
export function writeAnthropicBody(request: ModelRequest, target: WireTarget): Record<string, unknown> {
  const outline = outlineOf(request.messages, target);
  const first = outline.findIndex(message => message.role !== 'system');
  const system = outline.slice(0, first < 0 ? outline.length : first).flatMap(systemBlock);
  const messages = alternateTurns<Block>(first < 0 ? [] : outline.slice(first), blocksOf, text => ({
    type: 'text',
    text,
  }));
  const longest = target.maxOutput ?? Math.min(target.info.maxOutput, LONGEST_UNASKED);
  const isFree = mayThink(messages, block => block['type'] === 'tool_result', isThought);
  const thinking = isFree ? thinkingOf(request.parameters, target.info.id, longest) : {};
  markCache(system, messages);
  return {
    model: target.info.id,
    max_tokens: longest,
    ...(system.length > 0 && { system }),
    ...(request.tools.length > 0 && {
      tools: request.tools.map(tool => ({
        name: tool.name,
        description: tool.description.toWellFormed(),
        input_schema: toolSchema(tool.parameters, target.quirks.schema),
      })),
    }),
    messages,
    ...thinking,
    stream: true,
  };
}

function systemBlock(message: OutlineMessage): Block[] {
  return message.role === 'system' && message.text !== '' ? [{ type: 'text', text: message.text }] : [];
}

function blocksOf(message: OutlineMessage): Block[] {
  switch (message.role) {
    case 'system':
      return systemBlock(message);
    case 'user':
      return message.parts.map(seenBlock);
    case 'assistant':
      return message.parts.flatMap(writtenBlock);
    case 'tool':
      return message.results.map(resultBlock);
  }
}

function seenBlock(part: SeenPart): Block {
  return part.kind === 'text' ? { type: 'text', text: part.text } : imageBlock(part.image);
}

function imageBlock(image: ImageData): Block {
  const source =
    'url' in image
      ? { type: 'url', url: image.url }
      : { type: 'base64', media_type: image.mediaType, data: image.base64 };
  return { type: 'image', source };
}

function writtenBlock(part: WrittenPart): Block[] {
  switch (part.kind) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]; // blank blocks are refused
    case 'reasoning':
    case 'redacted': {
      const signature = part.options['anthropic']?.['signature'];
      if (typeof signature === 'string') {
        return [{ type: 'thinking', thinking: part.kind === 'reasoning' ? part.text : '', signature }];
      }
      // without a signature it was cut, and would be refused
      return part.kind === 'redacted' && part.data !== '' ? [{ type: 'redacted_thinking', data: part.data }] : [];
    }
    case 'call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: part.args }];
  }
}

function resultBlock(result: OutlineResult): Block {
  const text = result.text === '' ? [] : [{ type: 'text', text: result.text }];
  return {
    type: 'tool_result',
    tool_use_id: result.id,
    content: [...text, ...result.images.map(imageBlock)],
    ...(result.isError && { is_error: true }),
  };
}

function isThought(block: Block | undefined): boolean {
  return block?.['type'] === 'thinking' || block?.['type'] === 'redacted_thinking';
}

function markCache(system: Block[], messages: readonly Turn<Block>[]): void {
  const last = system.at(-1);
  if (last) last['cache_control'] = CACHED;
  for (const { content } of messages.filter(({ role }) => role === 'user').slice(-2)) {
    const block = content.at(-1);
    if (block) block['cache_control'] = CACHED;
  }
}
