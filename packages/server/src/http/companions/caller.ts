import { fault } from '@tandem/protocol';
import type { Scope } from '../../store/port.ts';
import { readRequestHeaders } from '../../stream/request-headers.ts';
import type { Request } from '../listen.ts';

/** Who calls, and with which request. */
export interface Caller {
  readonly owner: string;
  readonly request: Request;
}

/** Whose data a call is about, with the key that its client seals data with (R9). */
export function scopeOf({ owner, request }: Caller): Scope {
  return { owner, sealKey: readRequestHeaders(request.headers).sealKey };
}

/** Ids are UUIDs or a little longer; what is far above is no id, and every id becomes part of an index. */
const ID_CHARACTERS = 256;

/**
 * The id of a conversation as a request names it.
 * @throws Fault `bad_request`, naming the field, when it is empty or too long.
 */
export function conversationIdOf(field: string, id: string): string {
  if (id === '') throw fault('bad_request', `${field} is empty. Send the id of the conversation.`);
  if (id.length > ID_CHARACTERS)
    throw fault('bad_request', `${field} has ${id.length} characters; the limit is ${ID_CHARACTERS}.`);
  return id;
}
