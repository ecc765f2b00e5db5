import { approveQuery } from '../answer-query.ts';
import type { AnswerQuery } from '../answer-query.ts';
import type { PermissionMode } from './permission.ts';

/**
 * Answers for a run without a human: with `auto` a server may search the web, fetch a page, make an image or change the mode; whatever
 * else it asks, and all of it in the other modes, is refused with a reason. An embedder with a human gives its own `answerQuery`.
 */
export function answersByPermission(permission: PermissionMode): AnswerQuery {
  return query => Promise.resolve(permission === 'auto' ? approveQuery(query) : undefined);
}
