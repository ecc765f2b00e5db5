import { ShellAbortReason, ShellArgsSchema, ShellBackgroundReason, TimeoutBehavior } from '@tandem/protocol/agent';
import type { ShellArgs, ShellStream } from '@tandem/protocol/agent';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeMachine, runExecutor } from '../../test/machine.ts';
import type { Machine } from './machine.ts';
import { shellStreamExecutor } from './shell-stream.ts';

type Event = Exclude<ShellStream['event'], { case: undefined }>;
type Args = Partial<Omit<ShellArgs, '$typeName' | '$unknown'>>;

/** Arguments as a server sends them (R30). */
const foreground: Args = {
  timeout: 30_000,
  timeoutBehavior: TimeoutBehavior.BACKGROUND,
  hardTimeout: 86_400_000,
  fileOutputThresholdBytes: 40_000n,
  closeStdin: true,
};

async function run(machine: Machine, args: Args, signal?: AbortSignal) {
  const answers = await runExecutor(
    shellStreamExecutor(machine),
    ShellArgsSchema,
    { workingDirectory: machine.workspace.root, ...foreground, ...args },
    signal,
  );
  const events = answers.map(answer => (answer.value as ShellStream).event as Event);
  const text = (stream: 'stdout' | 'stderr') =>
    events.map(event => (event.case === stream ? event.value.data : '')).join('');
  const of = <Case extends Event['case']>(name: Case) =>
    events.find((event): event is Extract<Event, { case: Case }> => event.case === name)?.value as
      | Extract<Event, { case: Case }>['value']
      | undefined;
  return {
    events,
    cases: events.map(event => event.case),
    stdout: text('stdout'),
    stderr: text('stderr'),
    exit: of('exit'),
    backgrounded: of('backgrounded'),
    rejected: of('rejected'),
  };
}
function alive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
/** Looks again until it is so; a test's own deadline ends the wait. */
async function until<T>(look: () => T | undefined | false): Promise<T> {
  for (;;) {
    const seen = look();
    if (seen !== undefined && seen !== false) return seen;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}
const terminalFile = (machine: Machine, shellId: number) => join(machine.terminals.path, `${shellId}.txt`);

it('[§10.2-shell-stream] streams both outputs between start and exit', async () => {
  const { machine, root } = makeMachine();
  const { cases, stdout, stderr, exit } = await run(machine, { command: 'echo out; echo err >&2; exit 3' });
  expect([stdout, stderr]).toEqual(['out\n', 'err\n']);
  expect([cases[0], cases.at(-1)]).toEqual(['start', 'exit']);
  expect(exit).toMatchObject({ code: 3, cwd: root, aborted: false });
  expect([exit?.abortReason, exit?.outputLocation]).toEqual([undefined, undefined]);
});

it('runs the command as it stands, with its own arguments empty', async () => {
  const { machine } = makeMachine();
  const { stdout } = await run(machine, {
    command: `printf '%s|' "a b" 'c"d' $((6*7)) "$1" "$#"; cat <<'E'\nhere $HOME\nE`,
  });
  expect(stdout).toBe('a b|c"d|42||0|here $HOME\n');
});

it("reports errors of the shell with the command's own line numbers", async () => {
  const { machine } = makeMachine();
  const { stderr, exit } = await run(machine, { command: 'echo a\nno-such-command-here' });
  expect(stderr).toMatch(/line 2: no-such-command-here: command not found/);
  expect(exit?.code).toBe(127);
});

it('runs in the folder it is told, and tells the folder it ended in', async () => {
  const { machine, file } = makeMachine({ 'src/deep/a': '' });
  const { stdout, exit } = await run(machine, { command: 'pwd; cd deep', workingDirectory: file('src') });
  expect([stdout.trim(), exit?.cwd]).toEqual([file('src'), file('src/deep')]);
});

it('refuses a folder that does not exist, and runs nothing', async () => {
  const { machine, file } = makeMachine();
  const { cases, rejected } = await run(machine, { command: `touch ${file('made')}`, workingDirectory: file('none') });
  expect(cases).toEqual(['rejected']);
  expect(rejected?.reason).toMatch(/does not exist/);
  expect(existsSync(file('made'))).toBe(false);
});

it('[§10.2-shell-rejected, product-permission-read-only] refuses in a read-only run what is not known to be harmless', async () => {
  const { machine, file } = makeMachine({ a: 'text' }, { mode: 'read-only' });
  expect((await run(machine, { command: 'touch made' })).rejected).toMatchObject({
    command: 'touch made',
    isReadonly: true,
  });
  expect((await run(machine, { command: 'cat a' })).stdout).toBe('text');
  expect(existsSync(file('made'))).toBe(false);
});

it('gives a command the end of its input', async () => {
  const { machine } = makeMachine();
  expect((await run(machine, { command: 'cat; echo end' })).stdout).toBe('end\n');
});

it('counts a signal as shells do', async () => {
  const { machine } = makeMachine();
  expect((await run(machine, { command: 'kill -9 $$' })).exit).toMatchObject({ code: 137, aborted: false });
});

it('does not wait for what a command leaves running', async () => {
  const { machine } = makeMachine();
  const { stdout, exit } = await run(machine, { command: 'sleep 30 & echo $!' });
  const pid = Number(stdout);
  expect([exit?.code, alive(pid)]).toEqual([0, true]);
  process.kill(pid);
});

it('[§18-abort-kills] kills the whole group when it is aborted', async () => {
  const { machine } = makeMachine();
  const controller = new AbortController();
  const events: Event[] = [];
  const executor = shellStreamExecutor(machine);
  const args = {
    ...foreground,
    command: 'sleep 61 & echo $!; (sleep 62 & echo $!; wait); wait',
    workingDirectory: machine.workspace.root,
    $typeName: 'agent.v1.ShellArgs',
  };
  for await (const answer of executor.run(args as never, { signal: controller.signal }) as AsyncIterable<{
    value: ShellStream;
  }>) {
    events.push(answer.value.event as Event);
    const pids = events.flatMap(event => (event.case === 'stdout' ? [...event.value.data.matchAll(/\d+/g)] : []));
    if (pids.length === 2) controller.abort();
  }
  const pids = events.flatMap(event =>
    event.case === 'stdout' ? [...event.value.data.matchAll(/\d+/g)].map(Number) : [],
  );
  expect(events.at(-1)).toMatchObject({
    case: 'exit',
    value: { code: 4294967295, aborted: true, abortReason: ShellAbortReason.USER_ABORT },
  });
  await until(() => !pids.some(alive));
});

it('kills a command that does not listen', async () => {
  const { machine } = makeMachine();
  const { exit } = await run(machine, {
    command: 'trap "" TERM; while true; do sleep 0.1; done',
    timeout: 300,
    timeoutBehavior: TimeoutBehavior.CANCEL,
  });
  expect(exit).toMatchObject({ aborted: true, abortReason: ShellAbortReason.TIMEOUT });
});

it('stops a command at its hard timeout', async () => {
  const { machine } = makeMachine();
  expect((await run(machine, { command: 'sleep 63', hardTimeout: 200 })).exit).toMatchObject({
    aborted: true,
    abortReason: ShellAbortReason.TIMEOUT,
  });
});

it('[§10.2-shell-background, R30-terminal-file-written] goes to the background after its time, and writes on into its terminal file', async () => {
  const { machine, root } = makeMachine();
  const { cases, stdout, backgrounded } = await run(machine, {
    command: 'echo begin; sleep 0.8; echo "more ✓"; exit 5',
    timeout: 300,
  });
  expect(cases).toEqual(['start', 'stdout', 'backgrounded']);
  expect(stdout).toBe('begin\n');
  expect(backgrounded).toMatchObject({ workingDirectory: root, msToWait: 300, reason: ShellBackgroundReason.TIMEOUT });
  expect(alive(backgrounded!.pid!)).toBe(true);
  const path = terminalFile(machine, backgrounded!.shellId);
  const text = await until(() => {
    const seen = readFileSync(path, 'utf8');
    return /elapsed_ms: \d+\n---\n$/.test(seen) && seen;
  });
  const pattern =
    /^---\npid: (\d+)\ncwd: "([^"]+)"\ncommand: "echo begin; sleep 0\.8; echo \\"more ✓\\"; exit 5"\n---\nbegin\nmore ✓\n\n---\nexit_code: 5\nelapsed_ms: \d+\n---\n$/;
  expect(pattern.exec(text)?.slice(1)).toEqual([String(backgrounded!.pid), root]);
});

it.each<[string, Args]>([
  ['no time in the foreground', { timeout: 0 }],
  ['is_background', { timeout: 0, timeoutBehavior: TimeoutBehavior.UNSPECIFIED, isBackground: true }],
])('goes to the background at once with %s', async (_what, args) => {
  const { machine } = makeMachine();
  const { cases, backgrounded } = await run(machine, { command: 'sleep 0.2; echo late', ...args });
  expect(cases).toEqual(['start', 'backgrounded']);
  const path = terminalFile(machine, backgrounded!.shellId);
  await until(() => /late\n\n---\nexit_code: 0/.test(readFileSync(path, 'utf8')));
});

it('takes long output along to the background', async () => {
  const { machine } = makeMachine();
  const { backgrounded } = await run(machine, {
    command: 'seq 1 20000; sleep 0.8; echo end',
    timeout: 500,
    fileOutputThresholdBytes: 100n,
  });
  const text = await until(() => {
    const seen = readFileSync(terminalFile(machine, backgrounded!.shellId), 'utf8');
    return seen.includes('exit_code') && seen;
  });
  const body = text.split('---\n')[2]!;
  expect(body).toBe(`${Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('')}end\n\n`);
  expect(readdirSync(machine.terminals.path)).toEqual([`${backgrounded!.shellId}.txt`]);
});

it('keeps the head of long output, and the whole in the file that the exit names', async () => {
  const { machine } = makeMachine();
  const whole = Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join('');
  const { stdout, exit } = await run(machine, { command: 'seq 1 200000' });
  expect(stdout).toHaveLength(1_000_000);
  expect(whole.startsWith(stdout)).toBe(true);
  expect(exit?.outputLocation).toMatchObject({ sizeBytes: BigInt(whole.length), lineCount: 200_000n });
  expect(readFileSync(exit!.outputLocation!.filePath, 'utf8')).toBe(whole);
});

it('makes no file for short output', async () => {
  const { machine } = makeMachine();
  await run(machine, { command: 'echo short' });
  expect(existsSync(machine.terminals.path)).toBe(false);
});

it('runs many commands beside each other', async () => {
  const { machine } = makeMachine();
  const startedAt = Date.now();
  const all = await Promise.all(
    Array.from({ length: 10 }, (_, index) => run(machine, { command: `sleep 0.5; echo ${index}` })),
  );
  expect(all.map(one => one.stdout)).toEqual(Array.from({ length: 10 }, (_, index) => `${index}\n`));
  expect(Date.now() - startedAt).toBeLessThan(4_500);
});

it('gives a shell no variable that is not in its environment', async () => {
  const { machine } = makeMachine();
  process.env['TANDEM_TEST_KEY'] = 'secret-value';
  try {
    expect((await run(machine, { command: 'env' })).stdout).not.toContain('secret-value');
  } finally {
    delete process.env['TANDEM_TEST_KEY'];
  }
});

it('holds little of a hundred megabytes of output', async () => {
  const { machine } = makeMachine();
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers - before)), 5);
  const { exit, stdout } = await run(machine, {
    command: 'head -c 100000000 /dev/zero | tr "\\0" a',
    timeout: 0,
    timeoutBehavior: TimeoutBehavior.CANCEL,
  });
  clearInterval(timer);
  expect([exit?.code, stdout.length, exit?.outputLocation?.sizeBytes]).toEqual([0, 1_000_000, 100_000_000n]);
  expect(most).toBeLessThan(30_000_000);
});
