/**
 * The JSON model messages that `root_prompt_messages_json` and `pending_tool_calls` hold (R46, R48).
 *
 * One message is one blob: UTF-8 JSON, written once and never rewritten (R47). What we write is typed below; what others
 * wrote is read by {@link parseModelMessage}, which understands their spellings and keeps what it does not know.
 */

/** Settings that belong to one provider (`signature`, `encrypted_content`, item ids) or to us (`tandem`), by provider name. */
export type ProviderOptions = Record<string, Record<string, unknown>>;

export interface TextPart {
  type: 'text';
  text: string;
  providerOptions?: ProviderOptions;
}
/** `image` is a data URI or bare base64; a bare one has its type in `mediaType`. */
export interface ImagePart {
  type: 'image';
  image: string;
  mediaType?: string;
  providerOptions?: ProviderOptions;
}
export interface FilePart {
  type: 'file';
  data: string;
  mediaType: string;
  filename?: string;
  providerOptions?: ProviderOptions;
}
export interface ReasoningPart {
  type: 'reasoning';
  text: string;
  providerOptions?: ProviderOptions;
}
export interface RedactedReasoningPart {
  type: 'redacted-reasoning';
  data: string;
  providerOptions?: ProviderOptions;
}
export interface ToolCallPart {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  args: Record<string, unknown>;
  providerOptions?: ProviderOptions;
}
/** `result` is a text, a list of text and image parts, or any JSON another server wrote. */
export interface ToolResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  result: unknown;
  isError?: boolean;
  providerOptions?: ProviderOptions;
}
/** A part of a type we do not know, kept as it came. */
export interface UnknownPart {
  type: string;
  [key: string]: unknown;
}

export type KnownPart =
  | TextPart
  | ImagePart
  | FilePart
  | ReasoningPart
  | RedactedReasoningPart
  | ToolCallPart
  | ToolResultPart;
export type MessagePart = KnownPart | UnknownPart;

export interface ModelMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | MessagePart[];
  id?: string;
  providerOptions?: ProviderOptions;
}

const ROLES = new Set(['system', 'user', 'assistant', 'tool']);
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Narrows a part to a known type: `isPart(part, 'tool-call')`. */
export function isPart<T extends KnownPart['type']>(
  part: MessagePart,
  type: T,
): part is Extract<KnownPart, { type: T }> {
  return part.type === type;
}

/** The parts of a message; a string content is one text part, an empty string none. */
export function partsOf(message: ModelMessage): MessagePart[] {
  if (typeof message.content !== 'string') return message.content;
  return message.content === '' ? [] : [{ type: 'text', text: message.content }];
}

/** The text of a message, its text parts joined. */
export function textOfMessage(message: ModelMessage): string {
  return partsOf(message)
    .map(part => (isPart(part, 'text') ? part.text : ''))
    .join('');
}

/** The tool calls of an assistant message, in order. */
export function toolCallsOf(message: ModelMessage): ToolCallPart[] {
  return message.role === 'assistant' ? partsOf(message).filter(part => isPart(part, 'tool-call')) : [];
}

/** The tool results of a tool message, in order. */
export function toolResultsOf(message: ModelMessage): ToolResultPart[] {
  return partsOf(message).filter(part => isPart(part, 'tool-result'));
}

function parsePart(part: unknown): MessagePart {
  if (typeof part === 'string') return { type: 'text', text: part };
  if (!isRecord(part) || typeof part['type'] !== 'string') return { type: 'unknown', value: part };
  const { mimeType, ...rest } = part as Record<string, unknown> & { type: string };
  const read: UnknownPart = { ...rest, type: part['type'] };
  if (mimeType !== undefined && read['mediaType'] === undefined) read['mediaType'] = mimeType;
  if (read.type === 'tool-call') {
    if (read['args'] === undefined) read['args'] = read['input'];
    delete read['input'];
    if (typeof read['args'] === 'string') read['args'] = parseArguments(read['args']);
    if (!isRecord(read['args'])) read['args'] = {};
    if (typeof read['toolCallId'] !== 'string' || typeof read['toolName'] !== 'string') read.type = 'unknown';
  }
  if (read.type === 'tool-result') {
    const output = read['output'];
    if (read['result'] === undefined && isRecord(output)) {
      read['result'] = output['value'];
      if (String(output['type']).startsWith('error')) read['isError'] = true;
    }
    delete read['output'];
    if (read['result'] === undefined) read['result'] = '';
    if (typeof read['toolCallId'] !== 'string') read.type = 'unknown';
    if (typeof read['toolName'] !== 'string') read['toolName'] = '';
  }
  return read;
}

function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return {}; // arguments that never were JSON cannot be replayed; the call itself is kept
  }
}

/**
 * Reads one JSON model message, ours or another server's (R46): `input` for `args`, `output: {type, value}` for `result`,
 * `mimeType` for `mediaType`, string content for any role, unknown parts kept.
 * @throws TypeError with what was wrong, when the value is no message.
 */
export function parseModelMessage(value: unknown): ModelMessage {
  if (!isRecord(value))
    throw new TypeError(`a model message must be an object, found ${value === null ? 'null' : typeof value}`);
  const role = value['role'] === 'developer' ? 'system' : value['role'];
  if (typeof role !== 'string' || !ROLES.has(role)) {
    throw new TypeError(
      `a model message must have role system, user, assistant or tool, found ${JSON.stringify(role)}`,
    );
  }
  const content = value['content'];
  if (typeof content !== 'string' && !Array.isArray(content)) {
    throw new TypeError(
      `the content of a ${role} message must be a string or a list of parts, found ${typeof content}`,
    );
  }
  const message: ModelMessage = {
    role: role as ModelMessage['role'],
    content: typeof content === 'string' ? content : content.map(parsePart),
  };
  if (typeof value['id'] === 'string') message.id = value['id'];
  if (isRecord(value['providerOptions'])) message.providerOptions = value['providerOptions'] as ProviderOptions;
  return message;
}
