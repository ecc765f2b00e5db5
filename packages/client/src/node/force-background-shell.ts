import { create } from '@bufbuild/protobuf';
import { ForceBackgroundShellResultSchema, ForceBackgroundShellStatus } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../executor.ts';
import type { Machine } from './machine.ts';

/** Sends the command of a tool call, which streams in the foreground, to the background now. */
export function forceBackgroundShellExecutor(machine: Machine): Executor<'forceBackgroundShellArgs'> {
  return {
    kind: 'forceBackgroundShellArgs',
    run({ toolCallId }): Promise<ExecAnswer> {
      const toBackground = machine.shells.foreground.get(toolCallId);
      toBackground?.();
      const status =
        toBackground === undefined ? ForceBackgroundShellStatus.NOT_FOUND : ForceBackgroundShellStatus.ACCEPTED;
      const value = create(ForceBackgroundShellResultSchema, { status });
      return Promise.resolve({ case: 'forceBackgroundShellResult', value });
    },
  };
}
