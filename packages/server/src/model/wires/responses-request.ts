import { openAIEffort, reasonsAtOpenAI } from '../effort.ts';
import type { ModelRequest } from '../port.ts';
import { toolSchema } from '../tool-schema.ts';
import type { OutlineMessage, OutlineResult, SeenPart, WrittenPart } from './outline.ts';
import { outlineOf } from './outline.ts';
import type { WireTarget } from './wire.ts';

type Item = Record<string, unknown>;

/**
 * A Responses request that leaves nothing at the provider (`store: false`): reasoning comes encrypted and goes back as the item that
 * came, under its own id; an item without an id, or one that nothing follows, is left out, never made up (F82).
 */
export function writeResponsesBody(request: ModelRequest, target: WireTarget): Record<string, unknown> {
  const { info, maxOutput, quirks, withoutReasoning } = target;
  const outline = outlineOf(request.messages, target);
  const reasons = reasonsAtOpenAI(request.parameters, info.id);
  const effort = openAIEffort(request.parameters, info.id);
  const reasoning = {
    ...(effort !== undefined && { effort }),
    ...(!withoutReasoning && effort !== 'none' && { summary: 'auto' }),
  };
  return {
    model: info.id,
    input: outline.flatMap(itemsOf),
    ...(request.tools.length > 0 && {
      tools: request.tools.map(tool => ({
        type: 'function',
        name: tool.name,
        description: tool.description.toWellFormed(),
        parameters: toolSchema(tool.parameters, quirks.schema),
        strict: false,
      })),
    }),
    ...(reasons && Object.keys(reasoning).length > 0 && { reasoning }),
    ...(reasons && !withoutReasoning && { include: ['reasoning.encrypted_content'] }),
    ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
    ...(quirks.promptCacheKey && request.cacheKey !== undefined && { prompt_cache_key: request.cacheKey }),
    store: false,
    stream: true,
  };
}

function itemsOf(message: OutlineMessage): Item[] {
  switch (message.role) {
    case 'system':
      return message.text === '' ? [] : [{ role: 'system', content: message.text }];
    case 'user':
      return [
        {
          role: 'user',
          content: message.parts.length > 0 ? message.parts.map(seen) : [seen({ kind: 'text', text: '' })],
        },
      ];
    case 'assistant':
      return writtenItems(message.parts);
    case 'tool':
      return message.results.map(outputOf);
  }
}

function seen(part: SeenPart): Item {
  if (part.kind === 'text') return { type: 'input_text', text: part.text };
  const { image } = part;
  return {
    type: 'input_image',
    image_url: 'url' in image ? image.url : `data:${image.mediaType};base64,${image.base64}`,
  };
}

function writtenItems(parts: readonly WrittenPart[]): Item[] {
  const items: Item[] = [];
  for (const part of parts) {
    switch (part.kind) {
      case 'text':
        items.push({
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: part.text, annotations: [] }],
        });
        break;
      case 'reasoning':
      case 'redacted': {
        const item = reasoningItem(part);
        if (item) items.push(item);
        break;
      }
      case 'call':
        items.push({ type: 'function_call', call_id: part.id, name: part.name, arguments: JSON.stringify(part.args) });
        break;
    }
  }
  while (items.at(-1)?.['type'] === 'reasoning') items.pop();
  return items;
}

function reasoningItem({ options }: Extract<WrittenPart, { kind: 'reasoning' | 'redacted' }>): Item | undefined {
  const item = options['openai']?.['item'];
  const isWhole = typeof item === 'object' && item !== null && typeof (item as Item)['id'] === 'string';
  return isWhole ? (item as Item) : undefined;
}

function outputOf(result: OutlineResult): Item {
  const text = result.isError && !/^error\b/i.test(result.text) ? `Error: ${result.text}` : result.text;
  const images = result.images.map(image => seen({ kind: 'image', image }));
  const output = images.length === 0 ? text : [...(text === '' ? [] : [seen({ kind: 'text', text })]), ...images];
  return { type: 'function_call_output', call_id: result.id, output };
}
