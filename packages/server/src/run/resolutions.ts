import type { InterruptedPendingToolCallResolutions, ShellResult } from '@tandem/protocol/agent';
import type { Card, Tool, ToolFacts } from '../tools/tool.ts';
import type { KnownResult } from './tool-round.ts';

/**
 * Results that the client itself gives for calls that an earlier run left open (§7.2): what a command that was still running
 * came to. By call id; kinds that belong to tools of later versions are left out.
 */
export function clientResolutions(
  resolutions: InterruptedPendingToolCallResolutions | undefined,
): ReadonlyMap<
  string,
  (tool: Tool, args: Record<string, unknown>, context: { callId: string; facts: ToolFacts }) => KnownResult
> {
  return new Map(
    (resolutions?.resolutions ?? []).flatMap(({ toolCallId, resolution }) => {
      if (resolution.case !== 'shellResult') return [];
      const result = resolution.value;
      return [[toolCallId, (tool, args, context) => shellKnown(tool, args, context, result)]];
    }),
  );
}

function shellKnown(
  tool: Tool,
  args: Record<string, unknown>,
  context: { callId: string; facts: ToolFacts },
  result: ShellResult,
): KnownResult {
  const open = tool.open(args, context);
  const card: Card = open.case === 'shellToolCall' ? { case: 'shellToolCall', value: { ...open.value, result } } : open;
  const { case: kind, value } = result.result;
  if (kind === 'success' || kind === 'failure') {
    const output = value.interleavedOutput ?? [value.stdout, value.stderr].filter(text => text !== '').join('\n');
    return { card, content: `${output || '(no output)'}\nExit code: ${value.exitCode}`, isError: kind === 'failure' };
  }
  return { card, content: `The command did not finish (${kind ?? 'no result'}).`, isError: true };
}
