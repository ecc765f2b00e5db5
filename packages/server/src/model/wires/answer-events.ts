import type { ProviderOptions } from '@tandem/protocol/message';
import type { ModelEvent } from '../port.ts';
import { textIn } from './event-json.ts';

/** A call whose name did not come: the model learns from its result what the names are (R62). */
export const UNNAMED = 'unnamed_tool';

/** The name of the tool that is called. */
export function nameIn(call: Record<string, unknown>): string {
  return textIn(call, 'name').trim() || UNNAMED;
}

/** What is shown of a text or a thought: nothing while all of it waits for the other half of a character. */
export function shownText(type: 'text' | 'reasoning', text: string): ModelEvent[] {
  return text === '' ? [] : [{ type, text }];
}

/** What is shown of the arguments of a call. */
export function shownArgs(key: string, text: string): ModelEvent[] {
  return text === '' ? [] : [{ type: 'tool-args', key, text }];
}

/** The end of a thought: what still waited of it, and what goes back with it. */
export function thoughtEnd(rest: string, providerOptions: ProviderOptions): ModelEvent[] {
  return [...shownText('reasoning', rest), { type: 'reasoning-end', providerOptions }];
}
