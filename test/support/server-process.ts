import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../../packages/cli/bin/tandem.js', import.meta.url));
/** A start takes about a second; a guard against hanging only. */
const HANG_MS = 45_000;
/** As much of a log as is kept for tests to read: its end. */
const LOG_CHARACTERS = 4_000_000;

/** `tandem serve` as a process that can be killed and started again, at one port and over one store. */
export interface ServerProcess {
  readonly url: string;
  /** Starts it; resolves once it listens. */
  start(): Promise<void>;
  /** What it wrote to its log since it was started, a line each. */
  logLines(): string[];
  /** The memory that it holds at present, as the system counts it. */
  residentBytes(): number;
  /** Ends it without a word, as a crash or `kill -9` does. */
  kill(): Promise<void>;
  /** Kills what still runs and removes the store. */
  close(): Promise<void>;
}

/** Prepares a server process in front of a scripted provider; nothing runs before `start`. `more` is merged over the config. */
export async function prepareServerProcess(
  provider: string,
  more: Record<string, unknown> = {},
): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-process-'));
  const config = join(folder, 'tandem.json');
  const models = [{ id: 'test-model', name: 'Test model', contextWindow: 200_000, maxOutput: 8_000, vision: true }];
  writeFileSync(
    config,
    JSON.stringify({
      providers: { scripted: { type: 'openai-compatible', baseUrl: provider, models } },
      defaultModel: 'scripted/test-model',
      store: { url: `sqlite:${join(folder, 'tandem.db')}` },
      ...more,
    }),
  );
  const port = await freePort();
  let child: ChildProcess | undefined;
  let said = '';
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    async start() {
      const args = ['--conditions=tandem-source', COMMAND, 'serve', '--port', String(port), '--config', config];
      const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      child = started;
      said = '';
      started.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-LOG_CHARACTERS)));
      const lines = createInterface(started.stdout);
      const guard = AbortSignal.timeout(HANG_MS);
      const left = once(started, 'exit', { signal: guard }).then(() => {
        throw new Error(`tandem serve ended before it listened: ${said.slice(-4_000)}`);
      });
      const listening = once(lines, 'line', { signal: guard });
      left.catch(() => {}); // also rejects when the process is killed later, which is what tests do
      await Promise.race([listening, left]);
    },
    logLines: () => said.split('\n').filter(line => line !== ''),
    residentBytes: () =>
      1024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child?.pid)], { encoding: 'utf8' })),
    kill,
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A port that was free a moment ago: the same one has to be taken twice, so it cannot be left to the server. */
async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
