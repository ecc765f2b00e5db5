import type { Usage } from '../model/port.ts';

/** Characters per token, roughly, for text and code in one (before the first answer there is nothing better, R51). */
const CHARACTERS_PER_TOKEN = 4;

/** Tokens estimated from characters. */
export function tokensOf(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/**
 * The usage of a call that ended before its provider told it, for the ledger: what it told so far, and an estimate of the rest.
 * Providers bill such a call for what they wrote, so a budget counts it.
 *
 * @param inputTokens estimated, for providers that tell nothing before the end
 * @param outputCharacters all that came: text, reasoning, arguments
 */
export function usageOfCutCall(told: Usage | undefined, inputTokens: number, outputCharacters: number): Usage {
  return {
    inputTokens,
    ...told,
    outputTokens: Math.max(told?.outputTokens ?? 0, tokensOf(outputCharacters)),
  };
}
