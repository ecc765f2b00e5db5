import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { nodeExecutors } from '@tandem/client/node';
import { ShellArgsSchema } from '@tandem/protocol/agent';

/** Runs one command through the shell executor when asked, and tells how much it said. */
const folder = mkdtempSync(join(tmpdir(), 'tandem-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const shell = nodeExecutors({ workspace: folder, permission: 'auto', terminalsFolder: join(folder, 'terminals') }).find(
  one => one.kind === 'shellStreamArgs',
)!;

async function run(command: string): Promise<{ characters: number; exitCode: number | undefined }> {
  let characters = 0;
  let exitCode: number | undefined;
  const args = create(ShellArgsSchema, { command, workingDirectory: folder, timeout: 120_000, toolCallId: 'call' });
  const start = shell.run as (args: unknown, context: { signal: AbortSignal }) => AsyncIterable<{ value: unknown }>;
  for await (const { value } of start(args, { signal: new AbortController().signal })) {
    const { event } = value as { event: { case: string; value: { data?: string; code?: number } } };
    if (event.case === 'stdout') characters += event.value.data!.length;
    if (event.case === 'exit') exitCode = event.value.code;
  }
  return { characters, exitCode };
}

process.on('message', (command: string) => {
  run(command).then(
    result => process.send!(result),
    (error: Error) => process.send!({ error: error.message }),
  );
});
process.send!('ready');
