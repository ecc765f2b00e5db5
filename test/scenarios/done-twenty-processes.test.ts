import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from '../citations.ts';
import { startProvider } from '../support/provider.ts';
import { brokenPrefix } from '../support/sent-messages.ts';
import { prepareServerProcess } from '../support/server-process.ts';

const TURNS = 20;
/** Turns before which the server is killed and started again. */
const RESTARTS = new Set([7, 14]);

/** One `tandem run` in a process of its own; resolves with its last line, the end event. */
async function runTurn(
  url: string,
  folder: string,
  prompt: string,
  more: string[],
): Promise<{ outcome: string; error?: { message: string } }> {
  const home = join(folder, 'home');
  const args = ['--conditions=tandem-source', join(repository, 'packages/cli/bin/tandem.js'), 'run', prompt];
  const flags = ['--server', url, '--cwd', join(folder, 'ws'), '--output', 'json', '--permission', 'auto'];
  const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8' };
  const child = spawn(process.execPath, [...args, ...flags, ...more], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString('utf8')));
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString('utf8')));
  await once(child, 'close');
  if (out === '') throw new Error(`tandem run said nothing: ${errors}`);
  return JSON.parse(out) as { outcome: string; error?: { message: string } };
}

it(
  '[done-twenty-turns] keeps its whole history through twenty processes of the command and two kills of the server',
  { timeout: 600_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tandem-twenty-'));
    for (const name of ['ws', 'home']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'ws/a.txt'), 'hi file\n');
    const provider = await startProvider({
      answers: ({ body }) => {
        const last = body.messages.at(-1)!;
        const turn = body.messages.filter(({ role }) => role === 'user').length;
        if (last.role === 'tool') return { text: `answer ${turn}` };
        return {
          calls: [
            {
              name: turn % 2 ? 'Read' : 'Shell',
              args: turn % 2 ? { path: 'a.txt' } : { command: `echo turn-${turn}` },
            },
          ],
        };
      },
    });
    const server = await prepareServerProcess(provider.baseUrl);
    try {
      await server.start();
      for (let turn = 1; turn <= TURNS; turn++) {
        if (RESTARTS.has(turn)) {
          await server.kill();
          await server.start();
        }
        const end = await runTurn(server.url, folder, `question number ${turn}.`, turn === 1 ? [] : ['--continue']);
        expect([turn, end.outcome, end.error?.message]).toEqual([turn, 'ended', undefined]);
      }
      expect(brokenPrefix(provider.requests)).toBeUndefined();
      const last = provider.requests.at(-1)!;
      const asked = [...last.text.matchAll(/question number (\d+)\./g)].map(([, number]) => Number(number));
      expect(asked).toEqual(Array.from({ length: TURNS }, (_, index) => index + 1));
      expect(last.body.messages.filter(({ role }) => role === 'tool')).toHaveLength(TURNS);
    } finally {
      await server.close();
      await provider.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
