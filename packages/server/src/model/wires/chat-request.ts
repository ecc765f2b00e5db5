import { effortOf, openAIEffort } from '../effort.ts';
import type { ModelRequest } from '../port.ts';
import type { Quirks } from '../quirks.ts';
import { toolSchema } from '../tool-schema.ts';
import type { OutlineMessage, OutlineResult, SeenPart, WrittenPart } from './outline.ts';
import { outlineOf } from './outline.ts';
import type { WireTarget } from './wire.ts';

type Message = { role: 'system' | 'user' | 'assistant' | 'tool' } & Record<string, unknown>;
type Call = Extract<WrittenPart, { kind: 'call' }>;

/** The names under which the effort of a model is chosen. */
const EFFORT = new Set(['effort', 'reasoning', 'reasoning_effort']);

/** What an assistant says where a provider wants one between a tool and the user. */
const BETWEEN = 'I have read the results.';

/** A chat-completions request as one endpoint takes it ({@link Quirks}); what else was chosen of a model goes as fields of their own. */
export function writeChatBody(request: ModelRequest, target: WireTarget): Record<string, unknown> {
  const { info, maxOutput, quirks } = target;
  return {
    model: info.id,
    ...(quirks.promptCacheKey && request.cacheKey !== undefined && { prompt_cache_key: request.cacheKey }),
    ...chosenFields(request.parameters),
    stream: true,
    messages: messagesOf(outlineOf(request.messages, target), quirks),
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, parameters }) => ({
        type: 'function',
        function: {
          name,
          description: description.toWellFormed(),
          parameters: toolSchema(parameters, quirks.schema),
        },
      })),
    }),
    ...(maxOutput !== undefined && { [quirks.maxTokens]: maxOutput }),
    ...(quirks.streamOptions && { stream_options: { include_usage: true } }),
    ...effortFields(request.parameters, target),
  };
}

function chosenFields(parameters: ModelRequest['parameters']): Record<string, string | boolean> {
  const others = Object.entries(parameters).filter(([name]) => !EFFORT.has(name));
  return Object.fromEntries(
    others.map(([name, value]) => [name, value === 'true' || value === 'false' ? value === 'true' : value]),
  );
}

function effortFields(parameters: ModelRequest['parameters'], { info, quirks }: WireTarget): Record<string, unknown> {
  const asked = Object.entries(parameters).findLast(([name]) => EFFORT.has(name))?.[1];
  const effort = asked === undefined ? undefined : effortOf({ effort: asked });
  if (effort === undefined) return {};
  switch (quirks.effort) {
    case 'reasoning_effort':
      if (quirks.maxTokens === 'max_completion_tokens') return { reasoning_effort: openAIEffort({ effort }, info.id) };
      return { reasoning_effort: effort === 'off' ? 'none' : effort };
    case 'reasoning.effort':
      return { reasoning: effort === 'off' ? { enabled: false } : { effort } };
    case 'none':
      return {};
  }
}

/**
 * The messages of a history. A tool's images follow its round in a message of the user, since the wire takes none in a result. Once
 * this model has shown that it reasons, calls that came without reasoning go back with an empty one: such providers refuse its
 * absence (P06).
 */
function messagesOf(outline: readonly OutlineMessage[], quirks: Quirks): Message[] {
  const messages: Message[] = [];
  let hasReasoned = false;
  const add = (...added: Message[]) => {
    if (quirks.assistantAfterTool && added[0]?.role === 'user' && messages.at(-1)?.role === 'tool') {
      messages.push({ role: 'assistant', content: BETWEEN });
    }
    messages.push(...added);
  };
  for (const message of outline) {
    switch (message.role) {
      case 'system':
        add({ role: 'system', content: message.text });
        break;
      case 'user':
        add({ role: 'user', content: contentOf(message.parts) });
        break;
      case 'assistant': {
        hasReasoned ||= reasoningOf(message.parts) !== '';
        add(...writtenMessage(message.parts, quirks.reasoningReplay, hasReasoned));
        break;
      }
      case 'tool': {
        add(...message.results.map(toolMessage));
        const images = message.results.flatMap(imagesOf);
        if (images.length > 0) add({ role: 'user', content: images.map(seen) });
        break;
      }
    }
  }
  return messages;
}

function contentOf(parts: readonly SeenPart[]): unknown {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.kind === 'text' ? first.text : parts.map(seen);
}

function seen(part: SeenPart): Record<string, unknown> {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const { image } = part;
  const url = 'url' in image ? new URL(image.url).href : `data:${image.mediaType};base64,${image.base64}`;
  return { type: 'image_url', image_url: { url } };
}

/** The one message of what an assistant wrote; none where that was nothing but reasoning that is not taken back. */
function writtenMessage(
  parts: readonly WrittenPart[],
  field: Quirks['reasoningReplay'],
  hasReasoned: boolean,
): Message[] {
  const text = parts.map(part => (part.kind === 'text' ? part.text : '')).join('');
  const calls = parts.filter(part => part.kind === 'call');
  const reasoning = reasoningOf(parts);
  const isReplayed = field !== 'none' && (reasoning !== '' || (hasReasoned && calls.length > 0));
  if (text === '' && calls.length === 0 && !isReplayed) return [];
  return [
    {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
      ...(isReplayed && { [field]: reasoning }),
    },
  ];
}

function reasoningOf(parts: readonly WrittenPart[]): string {
  return parts.map(part => (part.kind === 'reasoning' ? part.text : '')).join('');
}

function toolCall({ id, name, args, options }: Call): Record<string, unknown> {
  const signature = options['google']?.['thoughtSignature']; // there only where this model wrote the call
  return {
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
    ...(typeof signature === 'string' && { extra_content: { google: { thought_signature: signature } } }),
  };
}

function toolMessage({ id, text, images, isError }: OutlineResult): Message {
  const lines = [text, images.length > 0 ? '[The image follows.]' : ''].filter(line => line !== '');
  const whole = lines.join('\n');
  const content = isError && !/^error\b/i.test(whole) ? `Error: ${whole}` : whole;
  return { role: 'tool', tool_call_id: id, content };
}

function imagesOf({ name, images }: OutlineResult): SeenPart[] {
  if (images.length === 0) return [];
  const text = `The image${images.length > 1 ? 's' : ''} of the ${name} result:`;
  return [{ kind: 'text', text }, ...images.map(image => ({ kind: 'image', image }) as const)];
}
