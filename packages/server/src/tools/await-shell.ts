import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AwaitResultSchema } from '@tandem/protocol/agent';
import { AwaitToolCallSchema } from '@tandem/protocol/agent';
import { z } from 'zod';
import { tailOf } from './excerpt.ts';
import { AWAIT_MAX_MS, AWAIT_MISSING_POLLS, AWAIT_MS, AWAIT_POLL, AWAIT_TAIL_CHARACTERS } from './limits.ts';
import { failure, success, withFailures } from './outcome.ts';
import { matchPattern } from './pattern.ts';
import { TerminalFile } from './terminal-reading.ts';
import type { Card, Tool, ToolContext, ToolOutcome } from './tool.ts';

const schema = z.object({
  shell_id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'a shell id, as the result of Shell names it')
    .describe('The shell id that Shell named when the command went to the background.'),
  block_until_ms: z
    .int()
    .min(0)
    .max(AWAIT_MAX_MS)
    .optional()
    .describe(`Milliseconds to wait at most. 0: look once. Default: ${AWAIT_MS}.`),
  pattern: z.string().optional().describe('Regular expression; waiting ends as soon as the output matches it.'),
});
type AwaitArguments = z.infer<typeof schema>;

function awaitCard(
  { shell_id = '', block_until_ms, pattern }: Partial<AwaitArguments>,
  result?: MessageInitShape<typeof AwaitResultSchema>['result'],
): Card {
  return {
    case: 'awaitToolCall',
    value: create(AwaitToolCallSchema, {
      args: { taskId: shell_id, blockUntilMs: block_until_ms, regex: pattern },
      ...(result ? { result: { result } } : {}),
    }),
  };
}

/** Waits for a background command: polls its terminal file with `exec.read` (R30). */
export const awaitShellTool: Tool<AwaitArguments> = {
  name: 'AwaitShell',
  aliases: ['await_shell', 'Await', 'wait_for_shell', 'BashOutput', 'get_terminal_output'],
  argumentAliases: {
    task_id: 'shell_id',
    bash_id: 'shell_id',
    id: 'shell_id',
    timeout: 'block_until_ms',
    timeout_ms: 'block_until_ms',
    regex: 'pattern',
  },
  card: 'awaitToolCall',
  description: [
    'Waits for a command that Shell left running in the background, until it ends, its output matches pattern, or the time is over,',
    'and says which. Shows the end of the output.',
  ].join(' '),
  schema,
  offered: facts => facts.terminalsFolder !== '',
  open: args => awaitCard(args),
  close: (args, message) => awaitCard(args, { case: 'error', value: { error: message } }),
  execute(args, context) {
    return withFailures(awaitShellTool, args, context, () => awaitShell(args, context));
  },
};

async function awaitShell(args: AwaitArguments, context: ToolContext): Promise<ToolOutcome> {
  const { shell_id: shellId, pattern } = args;
  const file = new TerminalFile(shellId, context);
  const startedAt = context.now();
  const deadline = startedAt + (args.block_until_ms ?? AWAIT_MS);
  let match: string | undefined;
  let delay = AWAIT_POLL.first;
  for (let missing = 0; ;) {
    const piece = await file.readOn();
    if ('problem' in piece) {
      missing += 1;
      if (!piece.missing || missing >= AWAIT_MISSING_POLLS || context.now() >= deadline) {
        return failure(awaitShellTool.close(args, piece.problem, context), piece.problem);
      }
    } else if (pattern !== undefined && pattern !== '') {
      match = matchPattern(pattern, [piece.text], 'm')[0];
    }
    if (file.footer || match !== undefined) break;
    if ('text' in piece && piece.more) continue;
    const left = deadline - context.now();
    if (left <= 0) break;
    await context.pause(Math.min(delay, left));
    delay = Math.min(delay * AWAIT_POLL.growth, AWAIT_POLL.longest);
  }
  return report(args, file, match, Math.max(0, context.now() - startedAt));
}

function report(args: AwaitArguments, file: TerminalFile, match: string | undefined, waitedMs: number): ToolOutcome {
  const { footer, path } = file;
  const common = {
    taskId: args.shell_id,
    runtimeMs: BigInt(Math.trunc(footer?.elapsedMs ?? waitedMs)),
    outputFilePath: path,
    outputLength: BigInt(file.length),
    regexRequested: Boolean(args.pattern),
    regexMatch: match,
    wakeReason: footer ? 'exit' : match === undefined ? 'deadline' : 'pattern',
  };
  const shown = file.tail.trim() === '' ? '(no output)' : tailOf(file.tail, AWAIT_TAIL_CHARACTERS).replace(/\n+$/, '');
  const output = `Output${file.length > AWAIT_TAIL_CHARACTERS ? `, the end of it (all of it is in ${path})` : ''}:\n${shown}`;
  const matched = match === undefined ? '' : ` The output matched: ${JSON.stringify(match.slice(0, 500))}`;
  if (footer) {
    const card = awaitCard(args, {
      case: 'success',
      value: { awaitResult: { case: 'complete', value: { ...common, exitCode: footer.exitCode } } },
    });
    return success(card, `Shell ${args.shell_id} has ended with exit code ${footer.exitCode}.${matched}\n${output}`);
  }
  const card = awaitCard(args, { case: 'success', value: { awaitResult: { case: 'stillRunning', value: common } } });
  const why =
    match === undefined ? `is still running; ${Math.round(waitedMs)} ms of waiting are over.` : 'is still running.';
  return success(card, `Shell ${args.shell_id} ${why}${matched}\n${output}`);
}
