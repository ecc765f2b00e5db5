import { createHash } from 'node:crypto';
import type { ModelMessage } from '@tandem/protocol/message';
import { toolCallsOf } from '@tandem/protocol/message';
import { originOf } from './origin.ts';

/** Ids that the most lenient providers take. */
export const ANY_ID = /^[\x21-\x7e]{1,64}$/;

/**
 * The ids that the provider sees for the calls of one message: its own where it gave one that tells the calls apart, else ours
 * (R24). Keyed by our ids.
 *
 * @param model the key of the model that is asked
 * @param pattern what the provider takes as an id
 */
export function wireIdsOf(message: ModelMessage, model: string, pattern: RegExp = ANY_ID): Map<string, string> {
  const calls = toolCallsOf(message);
  const own = calls.map(call => {
    const origin = originOf(call, message);
    return origin.model === model && origin.providerId?.trim() ? origin.providerId : undefined;
  });
  return new Map(
    calls.map((call, at) => {
      const id = own[at];
      const isUnique = id !== undefined && own.indexOf(id) === own.lastIndexOf(id);
      return [call.toolCallId, isUnique ? id : safeId(call.toolCallId, pattern)];
    }),
  );
}

/** An id that the provider takes: others wrote longer ones, with line ends in them. */
function safeId(id: string, pattern: RegExp): string {
  if (pattern.test(id)) return id;
  const hash = createHash('sha256').update(id).digest('hex');
  const long = `call_${hash.slice(0, 32)}`;
  return pattern.test(long) ? long : hash.slice(0, 9);
}

/** A tool name that every provider takes (R61): models invent others, and the history keeps what they wrote. */
export function safeName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed_tool';
}
