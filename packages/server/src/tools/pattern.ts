import { createContext, Script } from 'node:vm';
import { PATTERN_MS } from './limits.ts';

/** A pattern that cannot be used: not a regular expression, or one that does not come to an end. The text is for the model. */
export class PatternFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PatternFault';
  }
}

const script = new Script(
  'texts.map(text => { const found = new RegExp(pattern, flags).exec(text); return found ? found[0] : null; })',
);

/**
 * What a regular expression that a model wrote matches in each text; undefined where it does not. It runs under a time limit:
 * some expressions take for ever on some texts, and they would hold every run of this server.
 * @throws PatternFault
 */
export function matchPattern(pattern: string, texts: readonly string[], flags = ''): (string | undefined)[] {
  try {
    new RegExp(pattern, flags);
  } catch (error) {
    throw new PatternFault(`The pattern is not a regular expression: ${(error as SyntaxError).message}`);
  }
  try {
    const found = script.runInContext(createContext({ pattern, flags, texts: [...texts] }), {
      timeout: PATTERN_MS,
    }) as unknown;
    return (found as (string | null)[]).map(match => match ?? undefined);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new PatternFault(`The pattern ${JSON.stringify(pattern)} takes too long on this text. Write a simpler one.`);
  }
}
