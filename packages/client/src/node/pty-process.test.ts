import { BackgroundShellSpawnArgsSchema, WriteShellStdinArgsSchema } from '@tandem/protocol/agent';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import { backgroundShellSpawnExecutor } from './background-shell-spawn.ts';
import { writeShellStdinExecutor } from './write-shell-stdin.ts';

/** Looks again until it is so; a test's own deadline ends the wait. */
async function until(look: () => boolean): Promise<void> {
  while (!look()) await new Promise(resolve => setTimeout(resolve, 20));
}

it('[pty-when-asked] gives a command that is to be written to a terminal, and kills all of it', async () => {
  const { machine } = makeMachine();
  machine.pty = true;
  const start = async (command: string) => {
    const args = { command, workingDirectory: machine.workspace.root, enableWriteShellStdinTool: true };
    const [branch, value] = branchOf(
      (await runExecutor(backgroundShellSpawnExecutor(machine), BackgroundShellSpawnArgsSchema, args))[0],
    );
    expect(branch).toBe('success');
    const { shellId, pid } = value as { shellId: number; pid: number };
    const text = () => readFileSync(join(machine.terminals.path, `${shellId}.txt`), 'utf8');
    return { shellId, pid, text };
  };
  const asking = await start('test -t 0 && test -t 1 && echo on-a-terminal; read -r line; echo "got <$line>"; exit 3');
  await until(() => asking.text().includes('on-a-terminal'));
  const written = await runExecutor(writeShellStdinExecutor(machine), WriteShellStdinArgsSchema, {
    shellId: asking.shellId,
    chars: 'hello ✓\r',
  });
  expect(branchOf(written[0])[0]).toBe('success');
  await until(() => asking.text().includes('exit_code'));
  expect(asking.text()).toMatch(/got <hello ✓>\r?\n[\s\S]*exit_code: 3/);
  const lasting = await start('sleep 64 & echo started; wait');
  await until(() => lasting.text().includes('started'));
  machine.shells.background.get(lasting.shellId)?.stop(0);
  await until(() => lasting.text().includes('exit_code'));
});
