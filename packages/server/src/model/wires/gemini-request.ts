import type { ImageData } from '../image.ts';
import { googleThinking } from '../effort.ts';
import type { ModelRequest } from '../port.ts';
import { toolSchema } from '../tool-schema.ts';
import { isRecord } from './event-json.ts';
import type { OutlineMessage, OutlineResult, SeenPart, WrittenPart } from './outline.ts';
import { outlineOf } from './outline.ts';
import { alternateTurns } from './turns.ts';
import type { WireTarget } from './wire.ts';

type Part = Record<string, unknown>;

/**
 * What Google documents for calls that another model wrote: its newer models refuse a step of the current turn whose first call has no
 * signature, and take this in its place.
 */
const FOREIGN_SIGNATURE = 'skip_thought_signature_validator';
const WANTS_SIGNATURE = /gemini-[3-9]/;

/**
 * A Gemini request. Roles alternate, the user is first and last; a signature goes back on the part on which it came, to the model that
 * gave it alone.
 */
export function writeGeminiBody(request: ModelRequest, target: WireTarget): Record<string, unknown> {
  const { info, maxOutput, quirks } = target;
  const outline = outlineOf(request.messages, target);
  const first = outline.findIndex(message => message.role !== 'system');
  const system = outline.slice(0, first < 0 ? outline.length : first).flatMap(systemPart);
  const wantsSignature = WANTS_SIGNATURE.test(info.id);
  const turns = alternateTurns<Part>(
    first < 0 ? [] : outline.slice(first),
    message => partsOf(message, wantsSignature),
    text => ({ text }),
  );
  const thinking = googleThinking(request.parameters, info.id);
  const generation = {
    ...(maxOutput !== undefined && { maxOutputTokens: maxOutput }),
    ...(thinking && { thinkingConfig: thinking }),
  };
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    contents: turns.map(({ role, content }) => ({ role: role === 'assistant' ? 'model' : 'user', parts: content })),
    ...(request.tools.length > 0 && {
      tools: [
        {
          functionDeclarations: request.tools.map(tool => {
            const parameters = toolSchema(tool.parameters, quirks.schema);
            // an object without properties is refused; a function without parameters is not
            const isEmpty = isRecord(parameters['properties']) && Object.keys(parameters['properties']).length === 0;
            return { name: tool.name, description: tool.description.toWellFormed(), ...(!isEmpty && { parameters }) };
          }),
        },
      ],
    }),
    ...(Object.keys(generation).length > 0 && { generationConfig: generation }),
  };
}

function systemPart(message: OutlineMessage): Part[] {
  return message.role === 'system' && message.text !== '' ? [{ text: message.text }] : [];
}

function partsOf(message: OutlineMessage, wantsSignature: boolean): Part[] {
  switch (message.role) {
    case 'system':
      return systemPart(message);
    case 'user':
      return message.parts.map(seenPart);
    case 'assistant':
      return writtenParts(message.parts, wantsSignature);
    case 'tool':
      return [...message.results.map(responsePart), ...message.results.flatMap(imageParts)];
  }
}

function seenPart(part: SeenPart): Part {
  return part.kind === 'text' ? { text: part.text } : imagePart(part.image);
}

function imagePart(image: ImageData): Part {
  if ('url' in image) return { fileData: { fileUri: image.url, mimeType: 'image/*' } };
  return { inlineData: { mimeType: image.mediaType, data: image.base64 } };
}

function writtenParts(parts: readonly WrittenPart[], wantsSignature: boolean): Part[] {
  let needsSignature = wantsSignature;
  return parts.flatMap((part): Part[] => {
    switch (part.kind) {
      case 'text':
        return [{ text: part.text }];
      case 'reasoning': {
        const signature = signatureOf(part);
        return signature === undefined ? [] : [{ text: part.text, thought: true, thoughtSignature: signature }];
      }
      case 'redacted': {
        const signature = signatureOf(part);
        return signature === undefined ? [] : [{ text: '', thoughtSignature: signature }];
      }
      case 'call': {
        const signature = signatureOf(part) ?? (needsSignature ? FOREIGN_SIGNATURE : undefined);
        needsSignature = false;
        return [
          {
            functionCall: { ...(part.isOwnId && { id: part.id }), name: part.name, args: part.args },
            ...(signature !== undefined && { thoughtSignature: signature }),
          },
        ];
      }
    }
  });
}

function signatureOf(part: Exclude<WrittenPart, { kind: 'text' }>): string | undefined {
  const signature = part.options['google']?.['thoughtSignature'];
  return typeof signature === 'string' && signature !== '' ? signature : undefined;
}

function responsePart(result: OutlineResult): Part {
  const response = result.isError ? { error: result.text } : { output: result.text };
  return { functionResponse: { ...(result.isOwnId && { id: result.id }), name: result.name, response } };
}

function imageParts(result: OutlineResult): Part[] {
  if (result.images.length === 0) return [];
  return [
    { text: `The image${result.images.length > 1 ? 's' : ''} of the ${result.name} result:` },
    ...result.images.map(imagePart),
  ];
}
