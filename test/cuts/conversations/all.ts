import type { Conversation } from '../conversation.ts';
import { edits } from './edits.ts';
import { large } from './large.ts';
import { odd } from './odd.ts';
import { parallel } from './parallel.ts';

/** The conversations that are cut, by name. */
export const conversations: ReadonlyMap<string, Conversation> = new Map(
  [parallel, edits, large, odd].map(one => [one.name, one]),
);
