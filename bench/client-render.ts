import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProvider } from '../test/support/provider.ts';
import type { Figure } from './figure.ts';
import { serve, within } from './process.ts';
import { scriptedConfig } from './scripted-config.ts';

const RUNS = 50;
const RENDER_MS = 30;
/** What the model says; nothing else on the way has it, and nothing is shown before it. */
const WORD = 'ripe-figs';
const COMMAND = fileURLToPath(new URL('../packages/cli/bin/tandem.js', import.meta.url));

/** A way to the server that notes when the first bytes with the word went on to the client. */
async function startWay(target: string): Promise<{ url: string; passedAt(): number; close(): void }> {
  let passedAt = 0;
  const { port, hostname } = new URL(target);
  const way = net.createServer(client => {
    const server = net.connect(Number(port), hostname);
    client.pipe(server);
    server.on('data', chunk => {
      if (passedAt === 0 && chunk.includes(WORD)) passedAt = performance.now();
      client.write(chunk);
    });
    server.on('end', () => client.end());
    for (const socket of [client, server]) socket.on('error', () => (client.destroy(), server.destroy()));
  });
  way.listen(0, '127.0.0.1');
  await once(way, 'listening');
  return {
    url: `http://127.0.0.1:${(way.address() as AddressInfo).port}`,
    passedAt: () => passedAt,
    close: () => void way.close(),
  };
}

/** Milliseconds from the first text at the client's socket until the command wrote it to its stdout, a pipe. */
async function renderOnce(target: string, folder: string): Promise<number> {
  const way = await startWay(target);
  const args = ['--conditions=tandem-source', COMMAND, 'run', 'Say it.', '--server', way.url, '--cwd', folder];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, HOME: folder, XDG_STATE_HOME: folder, NODE_COMPILE_CACHE: join(folder, 'cache') },
  });
  try {
    let shownAt = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      if (shownAt === 0 && chunk.includes(WORD)) shownAt = performance.now();
    });
    const ended = once(child, 'close');
    await within(ended, child, 'tandem run').catch(() => ended);
    if (shownAt === 0 || way.passedAt() === 0) throw new Error('tandem run never showed what the model said');
    return shownAt - way.passedAt();
  } finally {
    way.close();
  }
}

/** How soon the command shows the first frame with text: the 95th percentile of 50 runs, one after the other. */
export async function measureClientRender(): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-bench-'));
  const provider = await startProvider({ answers: () => ({ text: `${WORD}, and more of them.` }) });
  const served = await serve(scriptedConfig(provider.baseUrl));
  const took: number[] = [];
  try {
    await renderOnce(served.url, folder); // fills the compile cache
    for (let i = 0; i < RUNS; i++) took.push(await renderOnce(served.url, folder));
  } finally {
    await Promise.all([served.stop(), provider.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
  took.sort((a, b) => a - b);
  const at = (part: number) => took[Math.ceil(part * RUNS) - 1]!;
  return {
    name: 'first frame shown',
    workload: `tandem run against a server of its own, ${RUNS} times; from the arrival of the first text at the client's socket until it is on stdout, a pipe; the 95th percentile`,
    unit: 'ms',
    ours: [at(0.95)],
    limit: { what: 'the longest that is promised', values: [RENDER_MS] },
    target: { atMost: 1 },
    notes: [`median ${at(0.5).toFixed(1)} ms, longest ${at(1).toFixed(1)} ms`],
  };
}
