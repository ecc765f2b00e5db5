import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startProvider } from './provider.ts';
import { makeFolder } from './surroundings.ts';

const bin = fileURLToPath(new URL('../bin/tandem.js', import.meta.url));

/** Starts the real command in a folder of its own, with an empty home. */
function start(argv: string[], cwd = makeFolder(), flags: string[] = []) {
  const home = makeFolder();
  const child = spawn(process.execPath, ['--conditions=tandem-source', ...flags, bin, ...argv], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: home, NODE_COMPILE_CACHE: join(home, 'cache') },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.on('data', piece => (out += String(piece)));
  child.stderr.on('data', piece => (err += String(piece)));
  const exited = new Promise<number | null>(resolve => child.on('close', resolve));
  return {
    child,
    get out() {
      return out;
    },
    get err() {
      return err;
    },
    exited,
    /** Resolves once stdout matches; rejects when the process ends before. */
    async until(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const found = pattern.exec(out);
        if (found) return found;
        const ended = await Promise.race([
          exited.then(() => true),
          new Promise<false>(resolve => child.stdout.once('data', () => resolve(false))),
        ]);
        if (ended && !pattern.test(out)) throw new Error(`the command ended: ${out}${err}`);
      }
    },
  };
}

describe('the command as a process', () => {
  it('[product-run-zero-config, done-two-commands] looks at a folder with no key and no terminal, and exits 0', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'tandem.json'), '{"providers":{"demo":{"type":"demo"}}}');
    writeFileSync(join(folder, 'README.md'), '# A house\n');
    const command = start(['run', 'What is in this folder?'], folder);
    command.child.stdin.end();
    expect(await command.exited, command.err).toBe(0);
    expect(command.out).toMatch(/● List \.[^]*● Read README\.md[^]*● Run ls -la[^]*A house/);
  });

  it('[product-unknown-flag] exits 2 on an unknown flag', async () => {
    const command = start(['run', '--nope']);
    expect(await command.exited).toBe(2);
    expect(command.err).toContain("unknown option '--nope'");
  });

  it('[product-serve-announces, product-serve-drains] serves until SIGTERM, once its runs have ended', async () => {
    const { config } = await startProvider([{ text: 'Never done', hangs: true }]);
    const server = start(['serve', '--port', '0', '--config', config]);
    const [, url = ''] = await server.until(/^tandem listening on (http:\S+)\n/);
    const client = start(['run', 'Wait', '--server', url, '--output', 'stream-json']);
    await client.until(/Never done/);
    server.child.kill('SIGTERM');
    // the run is at work, so the server stays; a client that cancels it lets the server go
    const early = await Promise.race([
      server.exited.then(() => 'gone'),
      new Promise(resolve => setTimeout(resolve, 400, 'still there')),
    ]);
    expect(early).toBe('still there');
    client.child.kill('SIGINT');
    expect(await client.exited).toBe(130);
    expect(await server.exited, server.err).toBe(0);
  });

  it('[product-serve-drains] stops at once at a second SIGTERM', async () => {
    const { config } = await startProvider([{ text: 'Never done', hangs: true }]);
    const server = start(['serve', '--port', '0', '--config', config]);
    const [, url = ''] = await server.until(/^tandem listening on (http:\S+)\n/);
    const client = start(['run', 'Wait', '--server', url, '--output', 'stream-json']);
    await client.until(/Never done/);
    server.child.kill('SIGTERM');
    const again = setInterval(() => server.child.kill('SIGTERM'), 300);
    onTestFinished(() => clearInterval(again));
    const startedAt = performance.now();
    expect(await server.exited).toBe(1);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    client.child.kill('SIGINT');
    await client.exited;
  });

  it('[product-old-node] tells a Node that is too old which one it needs, and exits 2', async () => {
    const versions = `Object.defineProperty(process, 'versions', { value: { node: '22.18.0' } })`;
    const flags = ['--import', `data:text/javascript,${encodeURIComponent(versions)}`];
    const command = start(['--version'], makeFolder(), flags);
    expect(await command.exited).toBe(2);
    expect(command.err).toMatch(/^tandem needs Node 22\.19 or newer, and this is Node 22\.18\.0 \(.*\)\.\n$/);
    expect(command.out).toBe('');
  });

  it('prints its version without loading a server, a client or the schema', async () => {
    const tell =
      'import m from "node:module"; m.registerHooks({ load(url, context, next) { console.error(url); return next(url, context); } });';
    const command = start(['--version'], makeFolder(), [
      '--import',
      `data:text/javascript,${encodeURIComponent(tell)}`,
    ]);
    expect(await command.exited).toBe(0);
    expect(command.out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(command.err).toContain('/packages/cli/src/command-line.ts');
    expect(command.err).not.toMatch(/\/packages\/(server|client|protocol)\/|\/@bufbuild\/|\/zod\//);
  });
});
