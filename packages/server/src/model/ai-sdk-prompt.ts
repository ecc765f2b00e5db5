import { createHash } from 'node:crypto';
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
} from '@ai-sdk/provider';
import type { FilePart, MessagePart, ModelMessage, ToolCallPart, ToolResultPart } from '@tandem/protocol/message';
import { isPart, partsOf, textOfMessage, toolCallsOf } from '@tandem/protocol/message';
import { repairHistory, textOfResult } from './history.ts';
import type { ImageData } from './image.ts';
import { readImage } from './image.ts';
import { originOf } from './origin.ts';
import { wellFormed } from './well-formed.ts';

/** What decides how a history looks to one model. */
export interface PromptTarget {
  /** The key of the model, `provider/id`: only its own reasoning and its own call ids go back to it (R24, F80). */
  readonly model: string;
  readonly vision: boolean;
}

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;
type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

/**
 * Our messages as the provider layer takes them. The translation reads forward only, so the prompt of one call begins with the
 * prompt of the call before it (R47).
 *
 * Foreign reasoning and parts of unknown types are left out; images for a model without sight become a note (P24); a tool's
 * images follow its round in a message of the user, since chat providers take none in a result; no string has a lone surrogate
 * (P22). An assistant message with calls and no reasoning gets an empty `reasoning_content` once this model has shown that it
 * reasons: such providers refuse its absence (P06).
 */
export function translatePrompt(messages: readonly ModelMessage[], target: PromptTarget): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  let wireIds = new Map<string, string>();
  let reasons = false;
  for (const message of repairHistory(messages)) {
    switch (message.role) {
      case 'system':
        prompt.push({ role: 'system', content: textOfMessage(message) });
        break;
      case 'user':
        prompt.push({ role: 'user', content: userParts(partsOf(message), target) });
        break;
      case 'assistant': {
        wireIds = wireIdsOf(message, target);
        const content = assistantContent(message, target, wireIds);
        if (content.length === 0) break; // nothing of it is for this provider
        const hasReasoning = content.some(part => part.type === 'reasoning');
        reasons ||= hasReasoning;
        const asksForReasoning = reasons && !hasReasoning && wireIds.size > 0;
        prompt.push({
          role: 'assistant',
          content,
          ...(asksForReasoning && { providerOptions: { openaiCompatible: { reasoning_content: '' } } }),
        });
        break;
      }
      case 'tool':
        prompt.push(...toolMessages(partsOf(message), target, wireIds));
        break;
    }
  }
  return wellFormed(prompt);
}

/**
 * The ids that the provider sees for the calls of one message: its own where it gave one that tells the calls apart, else ours
 * (R24). Keyed by our ids.
 */
function wireIdsOf(message: ModelMessage, target: PromptTarget): Map<string, string> {
  const calls = toolCallsOf(message);
  const own = calls.map(call => {
    const origin = originOf(call, message);
    return origin.model === target.model && origin.providerId?.trim() ? origin.providerId : undefined;
  });
  return new Map(
    calls.map((call, at) => {
      const id = own[at];
      const isUnique = id !== undefined && own.indexOf(id) === own.lastIndexOf(id);
      return [call.toolCallId, isUnique ? id : safeId(call.toolCallId)];
    }),
  );
}

/** An id that every provider takes: others wrote longer ones, with line ends in them. */
function safeId(id: string): string {
  return /^[\x21-\x7e]{1,64}$/.test(id) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}

/** A tool name that every provider takes (R61): models invent others, and the history keeps what they wrote. */
function safeName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed_tool';
}

function userParts(parts: readonly MessagePart[], target: PromptTarget): UserPart[] {
  const translated: UserPart[] = [];
  for (const part of parts) {
    if (isPart(part, 'text')) translated.push({ type: 'text', text: part.text });
    else if (isPart(part, 'image')) translated.push(imagePart(readImage(part), target));
    else if (isPart(part, 'file')) translated.push({ type: 'text', text: textOfFile(part) });
  }
  return translated.length > 0 ? translated : [{ type: 'text', text: '' }];
}

function imagePart(image: ImageData | undefined, target: PromptTarget): UserPart {
  if (image === undefined) return { type: 'text', text: '[An image that could not be read was here.]' };
  if (!target.vision)
    return {
      type: 'text',
      text: '[An image was here. This model cannot see images: tell the user that it was not looked at.]',
    };
  if ('url' in image) return { type: 'file', mediaType: 'image/*', data: { type: 'url', url: new URL(image.url) } };
  return { type: 'file', mediaType: image.mediaType, data: { type: 'data', data: image.base64 } };
}

function textOfFile(part: FilePart): string {
  const name = part.filename ?? 'unnamed';
  const isText = /^text\/|json|xml|yaml|javascript/.test(part.mediaType ?? '');
  if (!isText || typeof part.data !== 'string')
    return `[The file ${name} (${part.mediaType}) was here. This model cannot read it.]`;
  const base64 = part.data.startsWith('data:') ? part.data.slice(part.data.indexOf(',') + 1) : part.data;
  return `File ${name}:\n${Buffer.from(base64, 'base64').toString('utf8')}`;
}

function assistantContent(
  message: ModelMessage,
  target: PromptTarget,
  wireIds: ReadonlyMap<string, string>,
): AssistantContent {
  const content: AssistantContent = [];
  for (const part of partsOf(message)) {
    if (isPart(part, 'text') && part.text !== '') content.push({ type: 'text', text: part.text });
    else if (isPart(part, 'reasoning') && part.text !== '' && originOf(part, message).model === target.model) {
      content.push({ type: 'reasoning', text: part.text });
    } else if (isPart(part, 'tool-call')) content.push(toolCall(part, message, target, wireIds));
  }
  return content;
}

function toolCall(
  part: ToolCallPart,
  message: ModelMessage,
  target: PromptTarget,
  wireIds: ReadonlyMap<string, string>,
): AssistantContent[number] {
  const signature = part.providerOptions?.['google']?.['thoughtSignature'];
  const isOwn = originOf(part, message).model === target.model;
  return {
    type: 'tool-call',
    toolCallId: wireIds.get(part.toolCallId) ?? part.toolCallId,
    toolName: safeName(part.toolName),
    input: part.args ?? {},
    ...(isOwn && typeof signature === 'string' && { providerOptions: { google: { thoughtSignature: signature } } }),
  };
}

function toolMessages(
  parts: readonly MessagePart[],
  target: PromptTarget,
  wireIds: ReadonlyMap<string, string>,
): LanguageModelV4Message[] {
  const results = parts.filter(part => isPart(part, 'tool-result'));
  const seen: UserPart[] = [];
  const translated: LanguageModelV4Message = {
    role: 'tool',
    content: results.map(result => {
      const images = imagesOf(result);
      if (images.length > 0 && target.vision) {
        seen.push({
          type: 'text',
          text: `The image${images.length > 1 ? 's' : ''} of the ${result.toolName || 'tool'} result:`,
        });
        seen.push(...images.map(image => imagePart(image, target)));
      }
      return {
        type: 'tool-result',
        toolCallId: wireIds.get(result.toolCallId) ?? result.toolCallId,
        toolName: safeName(result.toolName),
        output: { type: result.isError ? 'error-text' : 'text', value: textForProvider(result, images.length, target) },
      };
    }),
  };
  return seen.length > 0 ? [translated, { role: 'user', content: seen }] : [translated];
}

function imagesOf(result: ToolResultPart): (ImageData | undefined)[] {
  if (!Array.isArray(result.result)) return [];
  return (result.result as MessagePart[])
    .filter(part => typeof part === 'object' && part !== null && isPart(part, 'image'))
    .map(readImage);
}

function textForProvider(result: ToolResultPart, images: number, target: PromptTarget): string {
  const lines: string[] = [];
  const text = textOfResult(result.result);
  if (text !== '') lines.push(text);
  if (images > 0) {
    lines.push(
      target.vision
        ? '[The image follows.]'
        : '[The result has an image. This model cannot see images: tell the user that it was not looked at.]',
    );
  }
  if (lines.length === 0) lines.push('(no output)');
  const whole = lines.join('\n');
  return result.isError && !/^error\b/i.test(whole) ? `Error: ${whole}` : whole;
}
