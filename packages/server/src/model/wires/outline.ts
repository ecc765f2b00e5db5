import type { FilePart, MessagePart, ModelMessage, ProviderOptions, ToolResultPart } from '@tandem/protocol/message';
import { isPart, partsOf, textOfMessage } from '@tandem/protocol/message';
import { repairHistory, textOfResult } from '../history.ts';
import type { ImageData } from '../image.ts';
import { readImage } from '../image.ts';
import { originOf } from '../origin.ts';
import { wellFormed } from '../well-formed.ts';
import { safeName, wireIdsOf } from '../wire-names.ts';
import type { WireTarget } from './wire.ts';

/** What a user, or an image of a tool, puts before the model. */
export type SeenPart = { kind: 'text'; text: string } | { kind: 'image'; image: ImageData };

/** What the model wrote. Reasoning is here only for the model that wrote it, with what its provider wants back, as it came. */
export type WrittenPart =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string; options: ProviderOptions }
  | { kind: 'redacted'; data: string; options: ProviderOptions }
  | {
      kind: 'call';
      /** As the provider sees it: its own, or one that it takes. */
      id: string;
      /** Whether this model gave the id. */
      isOwnId: boolean;
      /** Whether this model wrote the call. */
      isOwn: boolean;
      name: string;
      args: Record<string, unknown>;
      options: ProviderOptions;
    };

export interface OutlineResult {
  id: string;
  isOwnId: boolean;
  name: string;
  text: string;
  isError: boolean;
  images: ImageData[];
}

/** One message of a history, as every native wire needs it. */
export type OutlineMessage =
  | { role: 'system'; text: string }
  | { role: 'user'; parts: SeenPart[] }
  | { role: 'assistant'; parts: WrittenPart[] }
  | { role: 'tool'; results: OutlineResult[] };

/**
 * A history repaired (K07) and read for one model: its own reasoning, its own call ids, notes in the place of what it cannot
 * see (P24), no lone surrogate (P22). It reads forward only, so the outline of a beginning is the beginning of the outline (R47).
 */
export function outlineOf(messages: readonly ModelMessage[], target: WireTarget): OutlineMessage[] {
  const outline: OutlineMessage[] = [];
  let calls = new Map<string, { id: string; isOwnId: boolean }>();
  for (const message of repairHistory(messages)) {
    switch (message.role) {
      case 'system':
        outline.push({ role: 'system', text: textOfMessage(message) });
        break;
      case 'user':
        outline.push({ role: 'user', parts: seenParts(partsOf(message), target) });
        break;
      case 'assistant': {
        calls = callsOf(message, target);
        const parts = writtenParts(message, target, calls);
        if (parts.length > 0) outline.push({ role: 'assistant', parts });
        break;
      }
      case 'tool': {
        const results = partsOf(message).filter(part => isPart(part, 'tool-result'));
        outline.push({ role: 'tool', results: results.map(result => resultOf(result, target, calls)) });
        break;
      }
    }
  }
  return wellFormed(outline);
}

function callsOf(message: ModelMessage, { info, quirks }: WireTarget): Map<string, { id: string; isOwnId: boolean }> {
  const ids = wireIdsOf(message, info.key, quirks.callId);
  const own = new Map(
    partsOf(message)
      .filter(part => isPart(part, 'tool-call'))
      .map(call => [call.toolCallId, originOf(call, message)] as const),
  );
  return new Map(
    [...ids].map(([ours, id]) => {
      const origin = own.get(ours);
      return [ours, { id, isOwnId: origin?.model === info.key && origin.providerId === id }] as const;
    }),
  );
}

function seenParts(parts: readonly MessagePart[], target: WireTarget): SeenPart[] {
  return parts.flatMap((part): SeenPart[] => {
    if (isPart(part, 'text')) return part.text === '' ? [] : [{ kind: 'text', text: part.text }];
    if (isPart(part, 'image')) return [imageOf(readImage(part), target)];
    return isPart(part, 'file') ? [{ kind: 'text', text: textOfFile(part) }] : [];
  });
}

function imageOf(image: ImageData | undefined, { info }: WireTarget): SeenPart {
  if (image === undefined) return { kind: 'text', text: '[An image that could not be read was here.]' };
  if (info.vision) return { kind: 'image', image };
  const text = '[An image was here. This model cannot see images: tell the user that it was not looked at.]';
  return { kind: 'text', text };
}

function textOfFile(part: FilePart): string {
  const name = part.filename ?? 'unnamed';
  const isText = /^text\/|json|xml|yaml|javascript/.test(part.mediaType ?? '');
  if (!isText || typeof part.data !== 'string')
    return `[The file ${name} (${part.mediaType}) was here. This model cannot read it.]`;
  const base64 = part.data.startsWith('data:') ? part.data.slice(part.data.indexOf(',') + 1) : part.data;
  return `File ${name}:\n${Buffer.from(base64, 'base64').toString('utf8')}`;
}

function writtenParts(
  message: ModelMessage,
  target: WireTarget,
  calls: ReadonlyMap<string, { id: string; isOwnId: boolean }>,
): WrittenPart[] {
  const written: WrittenPart[] = [];
  for (const part of partsOf(message)) {
    const isOwn = originOf(part, message).model === target.info.key;
    const isReplayed = isOwn && !target.withoutReasoning;
    if (isPart(part, 'text') && part.text !== '') written.push({ kind: 'text', text: part.text });
    else if (isPart(part, 'reasoning') && isReplayed) {
      written.push({ kind: 'reasoning', text: part.text, options: part.providerOptions ?? {} });
    } else if (isPart(part, 'redacted-reasoning') && isReplayed) {
      written.push({ kind: 'redacted', data: part.data, options: part.providerOptions ?? {} });
    } else if (isPart(part, 'tool-call')) {
      const { id, isOwnId } = calls.get(part.toolCallId) ?? { id: part.toolCallId, isOwnId: false };
      const options = isReplayed ? (part.providerOptions ?? {}) : {};
      written.push({ kind: 'call', id, isOwnId, isOwn, name: safeName(part.toolName), args: part.args ?? {}, options });
    }
  }
  return written;
}

function resultOf(
  result: ToolResultPart,
  target: WireTarget,
  calls: ReadonlyMap<string, { id: string; isOwnId: boolean }>,
): OutlineResult {
  const { id, isOwnId } = calls.get(result.toolCallId) ?? { id: result.toolCallId, isOwnId: false };
  const found = imagesOf(result);
  const images = target.info.vision ? found.filter(image => image !== undefined) : [];
  const lines = [textOfResult(result.result)].filter(text => text !== '');
  if (found.length > 0 && images.length === 0) {
    lines.push('[The result has an image. This model cannot see images: tell the user that it was not looked at.]');
  }
  if (lines.length === 0 && images.length === 0) lines.push('(no output)');
  const text = lines.join('\n');
  const isError = result.isError === true;
  return { id, isOwnId, name: safeName(result.toolName), text, isError, images };
}

function imagesOf(result: ToolResultPart): (ImageData | undefined)[] {
  if (!Array.isArray(result.result)) return [];
  return (result.result as MessagePart[])
    .filter(part => typeof part === 'object' && part !== null && isPart(part, 'image'))
    .map(readImage);
}
