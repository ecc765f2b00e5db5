// An independent client of agent.v1.AgentService/Run over h2c, unmodified, against the server: node --conditions=tandem-source interop/run-h2/main.ts
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProvider } from '../../test/support/provider.ts';
import type { Provider, ProviderOptions } from '../../test/support/provider.ts';
import { startServerProcess } from '../server-process.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
/** A guard against hanging: a turn takes a second or two. */
const CLIENT_MS = 60_000;

interface Outcome {
  readonly execs: readonly { exec: string; path: string }[];
  readonly stopReason: string;
  readonly errorMessage?: string;
  readonly text: string;
}

interface Scenario {
  readonly name: string;
  readonly model?: string;
  readonly answers: ProviderOptions['answers'];
  check(outcome: Outcome, workspace: string, provider: Provider): void;
}

const scenarios: readonly Scenario[] = [
  {
    name: 'hello',
    answers: [{ text: ['hello-', '42'] }],
    check({ stopReason, text }) {
      assert.deepEqual([stopReason, text], ['stop', 'hello-42']);
    },
  },
  {
    name: 'read',
    answers: [{ calls: [{ name: 'Read', args: { path: 'a.txt' } }] }, { text: 'it says hi' }],
    check({ stopReason, text, execs }, _, { requests }) {
      assert.deepEqual([stopReason, text], ['stop', 'it says hi']);
      assert.deepEqual(
        execs.map(({ exec }) => exec),
        ['read'],
      );
      assert.match(requests[1]?.text ?? '', /hi file/);
    },
  },
  {
    name: 'write',
    answers: [{ calls: [{ name: 'Write', args: { path: 'made.txt', contents: 'potato salad\n' } }] }, { text: 'made' }],
    check({ text }, workspace) {
      assert.equal(text, 'made');
      assert.equal(readFileSync(join(workspace, 'made.txt'), 'utf8'), 'potato salad\n');
    },
  },
  {
    name: 'unknown-model',
    model: 'no-such-model',
    answers: [],
    check({ stopReason, errorMessage }) {
      assert.equal(stopReason, 'error');
      assert.match(errorMessage ?? '', /no-such-model/);
    },
  },
];

function bun(): string {
  const found = ['x64', 'aarch64']
    .map(cpu => join(here, `node_modules/@oven/bun-linux-${cpu}/bin/bun`))
    .find(path => existsSync(path));
  if (!found) throw new Error('the client is not installed; run "npm ci --prefix interop/run-h2" first (Linux only)');
  return found;
}

async function play(url: string, model: string, workspace: string): Promise<Outcome> {
  const child = spawn(bun(), [join(here, 'client.ts'), url, model, 'Do as you are told.'], {
    cwd: workspace,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let errors = '';
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString('utf8')));
  child.stderr.on('data', (piece: Buffer) => (errors = (errors + piece.toString('utf8')).slice(-4000)));
  const guard = setTimeout(() => child.kill('SIGKILL'), CLIENT_MS);
  await new Promise(done => child.once('close', done));
  clearTimeout(guard);
  const lines = out
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>);
  const last = lines.findLast(line => 'stopReason' in line);
  if (!last) throw new Error(`the client ended without a result: ${errors}`);
  return { ...(last as unknown as Outcome), execs: lines.filter(line => 'exec' in line) as never };
}

let failed = 0;
for (const scenario of scenarios) {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-run-h2-'));
  writeFileSync(join(folder, 'a.txt'), 'hi file\nsecond line\n');
  const provider = await startProvider({ answers: scenario.answers });
  const config = join(folder, 'tandem.json');
  const models = [{ id: 'test-model', contextWindow: 200_000, maxOutput: 8_000 }];
  writeFileSync(
    config,
    JSON.stringify({
      providers: { scripted: { type: 'openai-compatible', baseUrl: provider.baseUrl, models } },
      store: { url: 'sqlite::memory:' },
    }),
  );
  const server = await startServerProcess(config);
  try {
    scenario.check(await play(server.url, scenario.model ?? 'test-model', folder), folder, provider);
    process.stdout.write(`ok   run-h2-${scenario.name}\n`);
  } catch (error) {
    failed++;
    process.stdout.write(
      `FAIL run-h2-${scenario.name}\n${error instanceof Error ? error.message : String(error)}\n${server.output}\n`,
    );
  } finally {
    await server.stop();
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
process.stdout.write(`${scenarios.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
