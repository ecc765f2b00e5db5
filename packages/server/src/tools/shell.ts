import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ShellToolCallSchema, TimeoutBehavior } from '@tandem/protocol/agent';
import type { ShellArgsSchema, ShellResultSchema } from '@tandem/protocol/agent';
import { z } from 'zod';
import { SHELL_FILE_THRESHOLD_BYTES, SHELL_FOREGROUND_MS, SHELL_HARD_TIMEOUT_MS } from './limits.ts';
import { failure, failureText } from './outcome.ts';
import { shellBroken, shellEnded } from './shell-ending.ts';
import { ShellOutput } from './shell-output.ts';
import { ExecFailure } from './tool.ts';
import type { Card, Tool, ToolContext, ToolFacts, ToolOutcome } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

const schema = z.object({
  command: z.string().min(1).describe('Command for the shell.'),
  working_directory: z
    .string()
    .optional()
    .describe('Folder to run in, absolute or from the workspace folder. Default: the workspace folder.'),
  block_until_ms: z
    .int()
    .min(0)
    .max(SHELL_HARD_TIMEOUT_MS)
    .optional()
    .describe(
      `Milliseconds to wait for the command. When they are over it goes on in the background. 0: start it in the background. Default: ${SHELL_FOREGROUND_MS}.`,
    ),
  description: z.string().optional().describe('What the command does, in five to ten words, for the user.'),
  notify_on_output: z
    .object({
      pattern: z.string().describe('Regular expression; a line of output that matches is announced.'),
      reason: z.string().describe('What such a line would mean.'),
      debounce: z.number().min(0).optional().describe('Milliseconds between two announcements at least.'),
    })
    .optional()
    .describe('Asks the client to announce output of a background command. Not every client does: AwaitShell is sure.'),
});
type ShellArguments = z.infer<typeof schema>;

/** The command as it goes to the client (R30). */
function commandOf(
  args: Partial<ShellArguments>,
  callId: string,
  facts: ToolFacts,
): MessageInitShape<typeof ShellArgsSchema> {
  const foreground = args.block_until_ms ?? SHELL_FOREGROUND_MS;
  return {
    command: args.command ?? '',
    workingDirectory: workspacePath(args.working_directory || '.', facts).replace(/^\.$/, ''),
    timeout: Math.max(foreground, 1), // 0 is the absent field, which clients read in different ways
    timeoutBehavior: TimeoutBehavior.BACKGROUND,
    hardTimeout: SHELL_HARD_TIMEOUT_MS,
    fileOutputThresholdBytes: SHELL_FILE_THRESHOLD_BYTES,
    closeStdin: foreground > 0, // what goes to the background at once may be written to
    toolCallId: callId,
    description: args.description,
    outputNotification: args.notify_on_output,
  };
}

function shellCard(
  args: Partial<ShellArguments>,
  callId: string,
  facts: ToolFacts,
  result?: MessageInitShape<typeof ShellResultSchema>,
): Card {
  return {
    case: 'shellToolCall',
    value: create(ShellToolCallSchema, {
      args: commandOf(args, callId, facts),
      description: args.description,
      ...(result ? { result } : {}),
    }),
  };
}

/** Runs a command: `exec.shellStream`, output shown while it runs, the background after `block_until_ms` (R30). */
export const shellTool: Tool<ShellArguments> = {
  name: 'Shell',
  aliases: [
    'Bash',
    'run_terminal_cmd',
    'run_command',
    'run_shell_command',
    'execute_command',
    'shell_command',
    'exec_command',
    'terminal',
  ],
  argumentAliases: {
    cmd: 'command',
    cwd: 'working_directory',
    workdir: 'working_directory',
    dir_path: 'working_directory',
    directory: 'working_directory',
    timeout: 'block_until_ms',
    timeout_ms: 'block_until_ms',
  },
  card: 'shellToolCall',
  description: [
    "Runs a command in the shell of the user's machine and returns what it printed and its exit code.",
    'Each call starts in working_directory, so "cd" is not needed. The command gets no input: use flags that answer questions beforehand.',
    'A command that runs longer than block_until_ms goes on in the background; the result names its shell id and the file its output goes to. Wait for it with AwaitShell.',
    'To read, search or change files use the tools made for that.',
  ].join(' '),
  schema,
  open: (args, { callId, facts }) => shellCard(args, callId, facts),
  close(args, message, { callId, facts }) {
    const { command = '', workingDirectory = '' } = commandOf(args, callId, facts);
    return shellCard(args, callId, facts, {
      result: { case: 'spawnError', value: { command, workingDirectory, error: message } },
    });
  },
  execute: runCommand,
};

async function runCommand(args: ShellArguments, context: ToolContext): Promise<ToolOutcome> {
  const { callId, facts, exec } = context;
  const sent = commandOf(args, callId, facts);
  const output = new ShellOutput();
  const startedAt = context.now();
  const running = {
    command: args.command,
    workingDirectory: sent.workingDirectory ?? '',
    terminalsFolder: facts.terminalsFolder,
    output,
    elapsed: () => Math.max(0, Math.trunc(context.now() - startedAt)),
  };
  try {
    const ending = await exec.shellStream(sent, event => {
      output.push(event);
      if (event.case !== 'stdout' && event.case !== 'stderr') return;
      const delta = { case: event.case, value: { content: event.value.data } };
      context.delta({ delta: { case: 'shellToolCallDelta', value: { delta } } });
    });
    const { result, text, isError } = shellEnded(running, ending);
    return { card: shellCard(args, callId, facts, result), content: text, isError };
  } catch (error) {
    if (!(error instanceof ExecFailure)) throw error;
    const { result, text } = shellBroken(running, error.reason, failureText(shellTool.name, error));
    return failure(shellCard(args, callId, facts, result), text);
  }
}
