import { PatternFault } from './pattern.ts';
import { ExecFailure } from './tool.ts';
import type { Card, Tool, ToolContext, ToolOutcome } from './tool.ts';

/** A finished call that did what was asked. */
export function success(card: Card, content: ToolOutcome['content']): ToolOutcome {
  return { card, content, isError: false };
}

/** A finished call whose text the model reads as an error (R34); the adapter to the provider marks it. */
export function failure(card: Card, message: string): ToolOutcome {
  return { card, content: message, isError: true };
}

/** What the model reads of an exec that gave no answer. A missing handler is named as such (R35). */
export function failureText(toolName: string, error: ExecFailure): string {
  const message = error.message.replace(/^Error: */, ''); // the mark is the provider adapter's
  if (error.reason !== 'unavailable' || /not (available|supported)/i.test(message)) return message;
  return `${toolName} is not available in this client: ${message}`;
}

/**
 * Runs the work of a call. An exec without a usable answer, or a pattern that cannot be used, closes the card with an error
 * (R21, R29); anything else thrown is a fault of ours and goes up.
 */
export async function withFailures<Arguments>(
  tool: Tool<Arguments>,
  args: Arguments,
  context: ToolContext,
  work: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ExecFailure) && !(error instanceof PatternFault)) throw error;
    const message = error instanceof ExecFailure ? failureText(tool.name, error) : error.message;
    return failure(tool.close(args, message, context), message);
  }
}
