import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { MISSING_REASON } from './chat-chunk.ts';
import { originOptions } from './origin.ts';
import type { FinishReason, ModelEvent, Usage } from './port.ts';
import { usageOfChat } from './usage.ts';

/** A failure that the provider reported inside its stream; what is made of it depends on what was shown before. */
export interface StreamError {
  type: 'error';
  error: unknown;
}

/** What the translation of one answer remembers. */
export interface AnswerState {
  /** The key of the model, stored with what it wrote. */
  readonly model: string;
  /** First halves of characters whose second half is still to come, by the place they belong to. */
  readonly halves: Map<string, string>;
  readonly names: Map<string, string>;
}

export function startAnswer(model: string): AnswerState {
  return { model, halves: new Map(), names: new Map() };
}

/**
 * One part of the provider layer's stream as our events. Tool ids come as `key:providerId`. A character cut in two by the
 * provider is held until it is whole (R26).
 */
export function translateStreamPart(part: LanguageModelV4StreamPart, state: AnswerState): (ModelEvent | StreamError)[] {
  switch (part.type) {
    case 'text-delta':
      return whole(state, 'text', part.delta).map(text => ({ type: 'text', text }));
    case 'text-end':
      return rest(state, 'text').map(text => ({ type: 'text', text }));
    case 'reasoning-delta':
      return whole(state, 'reasoning', part.delta).map(text => ({ type: 'reasoning', text }));
    case 'reasoning-end':
      return [
        ...rest(state, 'reasoning').map(text => ({ type: 'reasoning', text }) as const),
        { type: 'reasoning-end', providerOptions: originOptions(state.model) },
      ];
    case 'tool-input-start': {
      const { key, providerId } = splitId(part.id);
      state.names.set(key, part.toolName);
      return [{ type: 'tool-start', key, providerId, name: part.toolName }];
    }
    case 'tool-input-delta': {
      const { key } = splitId(part.id);
      return whole(state, key, part.delta).map(text => ({ type: 'tool-args', key, text }));
    }
    case 'tool-input-end': {
      const { key } = splitId(part.id);
      return rest(state, key).map(text => ({ type: 'tool-args', key, text }));
    }
    case 'tool-call': {
      const { key, providerId } = splitId(part.toolCallId);
      const signature = part.providerMetadata && signatureOf(part.providerMetadata);
      const options = originOptions(state.model, providerId);
      if (signature) options['google'] = { thoughtSignature: signature };
      return [
        {
          type: 'tool-call',
          key,
          providerId,
          name: part.toolName,
          args: part.input.toWellFormed(),
          providerOptions: options,
        },
      ];
    }
    case 'error':
      return [{ type: 'error', error: part.error }];
    case 'finish':
      return [
        { type: 'finish', reason: reasonOf(part.finishReason, state.names.size > 0), usage: usageOf(part.usage) },
      ];
    default:
      return []; // starts, metadata, warnings, sources: nothing a turn needs
  }
}

function splitId(id: string): { key: string; providerId: string } {
  const colon = id.indexOf(':');
  return colon < 0 ? { key: id, providerId: id } : { key: id.slice(0, colon), providerId: id.slice(colon + 1) };
}

/** Text without a first half at its end, which waits for the next piece; lone halves become U+FFFD. */
function whole(state: AnswerState, place: string, delta: string): string[] {
  let text = (state.halves.get(place) ?? '') + delta;
  state.halves.delete(place);
  const last = text.charCodeAt(text.length - 1);
  if (last >= 0xd800 && last <= 0xdbff) {
    state.halves.set(place, text.slice(-1));
    text = text.slice(0, -1);
  }
  return text === '' ? [] : [text.toWellFormed()];
}

function rest(state: AnswerState, place: string): string[] {
  const half = state.halves.get(place);
  state.halves.delete(place);
  return half === undefined ? [] : [half.toWellFormed()];
}

function signatureOf(metadata: Record<string, Record<string, unknown> | undefined>): string | undefined {
  for (const options of Object.values(metadata)) {
    if (typeof options?.['thoughtSignature'] === 'string') return options['thoughtSignature'];
  }
  return undefined;
}

const CUT = new Set(['length', 'max_tokens', 'max_output_tokens', 'model_length']);

/**
 * The reason in our words (R57). The provider's own word is judged where there is one; an answer with calls that says it just
 * stopped means its calls.
 */
function reasonOf(reason: { unified: string; raw: string | undefined }, hasCalls: boolean): FinishReason {
  const raw = reason.raw ?? reason.unified;
  if (raw === MISSING_REASON) return 'missing';
  if (CUT.has(raw) || reason.unified === 'length') return 'length';
  if (raw === 'refusal') return 'refusal';
  if (reason.unified === 'content-filter') return raw === 'stop' ? 'refusal' : 'content-filter';
  if (raw === 'safety' || raw === 'SAFETY') return 'content-filter';
  if (reason.unified === 'error') return 'missing';
  return hasCalls ? 'tool-calls' : 'stop';
}

function usageOf(usage: { raw?: unknown }): Usage {
  return usageOfChat(usage.raw);
}
