import type { MessageInitShape } from '@bufbuild/protobuf';
import { ShellAbortReason, ShellBackgroundReason } from '@tandem/protocol/agent';
import type {
  OutputLocation,
  ShellStream,
  ShellStreamBackgrounded,
  ShellStreamExit,
  ShellResultSchema,
} from '@tandem/protocol/agent';
import { deniedText } from './denied.ts';
import type { ShellOutput } from './shell-output.ts';
import type { ExecFailureReason } from './tool.ts';

/** A command and what is known of it when its stream ends. */
export interface RunningCommand {
  command: string;
  workingDirectory: string;
  terminalsFolder: string;
  output: ShellOutput;
  /** Milliseconds since it was sent. */
  elapsed(): number;
}

export interface ShellEnding {
  result: MessageInitShape<typeof ShellResultSchema>;
  /** What the model reads. */
  text: string;
  isError: boolean;
}

/** The exit code of a command whose end nobody saw (R30): never 0. */
const UNKNOWN_EXIT = -1;

/** The result of a command, from the event that ended its stream (§10.2, R30). */
export function shellEnded(running: RunningCommand, event: ShellStream['event']): ShellEnding {
  const { command, workingDirectory } = running;
  switch (event.case) {
    case 'exit':
      return exited(running, event.value);
    case 'backgrounded':
      return backgrounded(running, event.value);
    case 'rejected': {
      const text = `The user did not allow this command.${event.value.reason ? ` ${event.value.reason}` : ''}`;
      return { result: { result: { case: 'rejected', value: event.value } }, text, isError: true };
    }
    case 'permissionDenied': {
      const text = deniedText('the command did not run', event.value);
      return { result: { result: { case: 'permissionDenied', value: event.value } }, text, isError: true };
    }
    case 'sandboxUnsupported': {
      const error =
        `The client cannot run it in the sandbox that is asked for (${event.value.sandboxPolicyType}). ${event.value.reason}`.trim();
      const result = { case: 'spawnError' as const, value: { command, workingDirectory, error } };
      return { result: { result }, text: `The command did not run. ${error}`, isError: true };
    }
    default:
      return shellBroken(running, 'unset', 'The client sent a malformed end of the command.');
  }
}

/** The result of a command whose stream broke: it did not start, or nobody knows how it ended (R30). */
export function shellBroken(running: RunningCommand, reason: ExecFailureReason, message: string): ShellEnding {
  const { command, workingDirectory, output } = running;
  if (reason === 'unavailable' || reason === 'thrown') {
    const result = { case: 'spawnError' as const, value: { command, workingDirectory, error: message } };
    return { result: { result }, text: message, isError: true };
  }
  const hint =
    reason === 'closed' ? ` A missing working directory does that; it was ${workingDirectory || 'not named'}.` : '';
  const fields = output.fields();
  const text = `Exit status unknown: ${message}${hint} The command may have run in part.\nOutput so far:\n${output.text()}`;
  const note = `exit status unknown: ${message}`;
  return {
    result: {
      result: {
        case: 'failure',
        value: {
          command,
          workingDirectory,
          ...fields,
          exitCode: UNKNOWN_EXIT,
          executionTime: running.elapsed(),
          aborted: reason === 'aborted' || reason === 'expired',
          stderr: fields.stderr === '' ? note : `${fields.stderr}\n${note}`,
        },
      },
    },
    text,
    isError: true,
  };
}

function locationText(location: OutputLocation | undefined): string {
  if (!location?.filePath) return '';
  return `\nThe whole output (${location.sizeBytes} bytes, ${location.lineCount} lines) is in ${location.filePath}; read parts of it with Read.`;
}

function exited(running: RunningCommand, exit: ShellStreamExit): ShellEnding {
  const exitCode = exit.code | 0; // a uint32 on the wire; −1 comes as 4294967295
  const common = {
    command: running.command,
    workingDirectory: running.workingDirectory,
    exitCode,
    executionTime: exit.localExecutionTimeMs ?? running.elapsed(),
    localExecutionTimeMs: exit.localExecutionTimeMs,
    outputLocation: exit.outputLocation,
    ...running.output.fields(),
  };
  const printed = running.output.text() + locationText(exit.outputLocation);
  if (exitCode === 0 && !exit.aborted) {
    return { result: { result: { case: 'success', value: common } }, text: `${printed}\nExit code: 0`, isError: false };
  }
  const value = { ...common, aborted: exit.aborted, abortReason: exit.abortReason };
  return {
    result: { result: { case: 'failure', value } },
    text: `${headOfFailure(exit, exitCode)}\n${printed}`,
    isError: true,
  };
}

function headOfFailure(exit: ShellStreamExit, exitCode: number): string {
  if (!exit.aborted) return `Exit code: ${exitCode}`;
  if (exit.abortReason === ShellAbortReason.TIMEOUT)
    return `The command was stopped because its time was over (exit code ${exitCode}).`;
  if (exit.abortReason === ShellAbortReason.USER_ABORT) return `The user stopped the command (exit code ${exitCode}).`;
  return `The command was stopped (exit code ${exitCode}).`;
}

/** The call ends here and the process goes on (R30). */
function backgrounded(running: RunningCommand, event: ShellStreamBackgrounded): ShellEnding {
  const { shellId, pid, msToWait, reason } = event;
  const file = running.terminalsFolder && `${running.terminalsFolder.replace(/[\\/]+$/, '')}/${shellId}.txt`;
  const why =
    reason === ShellBackgroundReason.USER_REQUEST
      ? 'The user sent the command to the background'
      : 'The command is still running in the background';
  const text = [
    `${why}: shell id ${shellId}${pid ? `, pid ${pid}` : ''}.`,
    file
      ? `Its output goes to ${file}; wait for it with AwaitShell, or read the file.`
      : 'The client did not say where its output goes.',
    `Output so far:\n${running.output.text()}`,
  ].join('\n');
  return {
    result: {
      result: {
        case: 'success',
        value: {
          command: running.command,
          workingDirectory: event.workingDirectory || running.workingDirectory,
          executionTime: running.elapsed(),
          shellId,
          pid,
          msToWait,
          backgroundReason: reason,
          ...running.output.fields(),
        },
      },
      isBackground: true,
      terminalsFolder: running.terminalsFolder || undefined,
      pid,
    },
    text,
    isError: false,
  };
}
