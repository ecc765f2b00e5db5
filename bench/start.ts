import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import { spreadOf } from './figure.ts';
import { fromSource, installPacked } from './installed.ts';
import type { Form } from './installed.ts';
import { cpuMs, stopProcess, within } from './process.ts';

const FIRST_REQUEST = fileURLToPath(new URL('first-request.cjs', import.meta.url));

/** One way of starting the command, and when it counts as started. */
export interface StartKind {
  readonly args: (folder: string) => readonly string[];
  /** `exit`: it has ended; `line`: it wrote to stdout; `request`: its first HTTP request left. */
  readonly until: 'exit' | 'line' | 'request';
}

/** Milliseconds of Node doing nothing: what every start pays. */
async function startNothing(): Promise<number> {
  const startedAt = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - startedAt;
}

interface Started {
  readonly ms: number;
  /** CPU time of all its threads until then; NaN for one that has ended. */
  readonly cpuMs: number;
}

/** Milliseconds from spawn until it counts as started. It is then let end, so that what it compiled is kept in `cache`. */
async function startCommand(form: Form, { args, until }: StartKind, folder: string, cache: string): Promise<Started> {
  const preload = until === 'request' ? ['--require', FIRST_REQUEST] : [];
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...preload, ...form.start, ...args(folder)], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    cwd: folder,
    env: { ...process.env, HOME: folder, XDG_STATE_HOME: folder, NODE_COMPILE_CACHE: cache, LOG_LEVEL: 'error' },
  });
  const exited = once(child, 'exit');
  const said = (stream: Readable) => within(once(stream, 'data'), child, `tandem ${args(folder)[0]}`);
  if (until === 'exit') await exited;
  else await said(until === 'line' ? child.stdout! : (child.stdio[3] as Readable));
  const started = { ms: performance.now() - startedAt, cpuMs: until === 'exit' ? NaN : cpuMs(child.pid!) };
  for (const stream of [child.stdout, child.stdio[3] as Readable]) stream?.resume();
  if (until === 'line') await stopProcess(child as ChildProcess);
  else await exited;
  return started;
}

/**
 * The first start, which finds no compile cache, and the second, each beside a Node that does nothing and ran right after it. What is
 * installed has to keep the limits; a clone, whose first start strips the types of its source, is reported beside it.
 *
 * @param most what either may take, as a multiple of that; a first start without one is only reported
 */
export async function measureStarts(
  name: string,
  workload: string,
  kind: StartKind,
  most: { first?: number; second: number },
  repetitions: number,
): Promise<Figure[]> {
  return [
    ...(await measureForm(installPacked(), name, workload, kind, most, repetitions)),
    ...(await measureForm(fromSource, name, workload, kind, {}, repetitions)),
  ];
}

async function measureForm(
  form: Form,
  name: string,
  workload: string,
  kind: StartKind,
  most: { first?: number; second?: number },
  repetitions: number,
): Promise<Figure[]> {
  const makeValues = () => ({ ours: [] as number[], cpu: [] as number[], limit: [] as number[] });
  const values = { first: makeValues(), second: makeValues() };
  for (let i = 0; i < repetitions; i++) {
    const folder = mkdtempSync(join(tmpdir(), 'tandem-bench-'));
    try {
      for (const which of ['first', 'second'] as const) {
        const started = await startCommand(form, kind, folder, join(folder, 'cache'));
        values[which].ours.push(started.ms);
        values[which].cpu.push(started.cpuMs);
        values[which].limit.push(await startNothing());
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return (['first', 'second'] as const).map(which => ({
    name: `${name}, ${form.name}, ${which} start`,
    workload: `${workload}, compile cache ${which === 'first' ? 'empty' : 'filled by one start before'}`,
    unit: 'ms',
    ours: values[which].ours,
    limit: { what: 'node -e 0', values: values[which].limit },
    ...(most[which] === undefined ? {} : { target: { atMost: most[which] } }),
    ...(kind.until === 'exit'
      ? {}
      : {
          notes: [
            `CPU time until then ${Math.round(spreadOf(values[which].cpu).median)} ms, which a busy machine spoils less`,
          ],
        }),
  }));
}
