import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProvider } from '../../test/provider.ts';
import { makeSurroundings } from '../../test/surroundings.ts';
import type { TestSurroundings } from '../../test/surroundings.ts';
import { run } from './run.ts';

const noProvider = (surroundings: TestSurroundings) =>
  writeFileSync(join(surroundings.cwd, 'tandem.json'), '{"providers":{"demo":{"type":"demo"}}}');

interface Line {
  type: string;
  [name: string]: unknown;
}

const objects = (surroundings: TestSurroundings) => surroundings.stdout.lines.map(line => JSON.parse(line) as Line);

/** A port on which nobody listens: one that was just given back. */
async function freePort(): Promise<number> {
  const server = http.createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

describe('run', () => {
  it('[product-run-zero-config, product-run-exit-codes] answers with the demo model and exits 0', async () => {
    const surroundings = makeSurroundings();
    noProvider(surroundings);
    writeFileSync(join(surroundings.cwd, 'README.md'), '# A house\n\nIt has rooms.\n');
    expect(await run('What is in this folder?', {}, surroundings)).toBe(0);
    const { stdout, stderr } = surroundings;
    expect(stdout.text).toMatch(/● List \.\n[^]*● Read README\.md\n[^]*● Run ls -la\n {4}[^]*A house/);
    expect(stdout.text).not.toMatch(/✗|\x1b/);
    expect(stderr.text).toMatch(/Done in \d+\.\d s\n$/);
  });

  it('[product-run-zero-config] takes the prompt from stdin', async () => {
    const surroundings = makeSurroundings({ stdin: 'What lies here?\n' });
    noProvider(surroundings);
    expect(await run(undefined, { output: 'json' }, surroundings)).toBe(0);
    const end = JSON.parse(surroundings.stdout.text) as Line;
    expect(end).toMatchObject({
      type: 'end',
      outcome: 'ended',
      text: expect.stringContaining('You asked: What lies here?'),
    });
    expect((end['tools'] as Line[]).map(tool => [tool['name'], tool['status']])).toEqual(
      expect.arrayContaining([
        ['ls', 'completed'],
        ['shell', 'completed'],
      ]),
    );
  });

  it('[product-stream-json] writes typed events and one end, last', async () => {
    const surroundings = makeSurroundings();
    noProvider(surroundings);
    expect(await run('Look', { output: 'stream-json' }, surroundings)).toBe(0);
    const all = objects(surroundings);
    expect(all.filter(one => one.type === 'end')).toEqual([all.at(-1)]);
    expect(all.map(one => one.type)).toEqual(expect.arrayContaining(['text', 'tool', 'checkpoint']));
    expect(all.at(-1)).toMatchObject({ outcome: 'ended', conversationId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  it('[product-stream-json, product-run-exit-codes] writes the end and exits 1 when no server answers', async () => {
    const surroundings = makeSurroundings();
    const server = `http://127.0.0.1:${await freePort()}`;
    expect(await run('Look', { output: 'stream-json', server, key: 'secret-key' }, surroundings)).toBe(1);
    expect(objects(surroundings).at(-1)).toMatchObject({
      type: 'end',
      outcome: 'failed',
      error: { code: 'unavailable' },
    });
    expect(surroundings.stdout.text + surroundings.stderr.text).not.toContain('secret-key');
  });

  it('[product-run-exit-codes] exits 1 and says why when the provider refuses', async () => {
    const { config } = await startProvider([{ status: 400 }]);
    const surroundings = makeSurroundings();
    expect(await run('Look', { config }, surroundings)).toBe(1);
    expect(surroundings.stderr.text).toMatch(/✗ .*the model said no/);
  });

  it('[product-run-exit-codes] exits 130 when it is interrupted, with the text so far shown', async () => {
    const { config } = await startProvider([{ text: 'So far so good', hangs: true }]);
    const surroundings = makeSurroundings();
    const running = run('Look', { config, output: 'stream-json' }, surroundings);
    await surroundings.stdout.until(/So far so good/);
    surroundings.interrupt();
    expect(await running).toBe(130);
    const all = objects(surroundings);
    expect(all.filter(one => one.type === 'end')).toEqual([expect.objectContaining({ outcome: 'cancelled' })]);
  });

  it('[product-run-exit-codes] leaves at once at a second interrupt, its end told', async () => {
    const { config } = await startProvider([{ text: 'So far so good', hangs: true }]);
    const surroundings = makeSurroundings();
    const running = run('Look', { config, output: 'stream-json' }, surroundings);
    await surroundings.stdout.until(/So far so good/);
    surroundings.interrupt();
    surroundings.interruptAgain();
    expect(await running).toBe(130);
    expect(objects(surroundings).filter(one => one.type === 'end')).toEqual([
      expect.objectContaining({ outcome: 'cancelled' }),
    ]);
  });

  it('is read-only without a terminal: the model is told and the file is not made', async () => {
    const { config, bodies } = await startProvider([
      { tool: 'Write', args: { path: 'made.txt', contents: 'x' } },
      { text: 'I could not.' },
    ]);
    const surroundings = makeSurroundings();
    expect(await run('Write', { config }, surroundings)).toBe(0);
    expect(existsSync(join(surroundings.cwd, 'made.txt'))).toBe(false);
    expect(surroundings.stdout.text).toMatch(/● Edit made\.txt\n {2}✗ .*read-only/);
    expect(bodies[1]).toContain('read-only');
  });

  it('asks on a terminal, and does what was allowed', async () => {
    const { config } = await startProvider([
      { tool: 'Write', args: { path: 'made.txt', contents: 'x' } },
      { text: 'It is there.' },
    ]);
    const surroundings = makeSurroundings({ isTerminal: true, env: { NO_COLOR: '1' } });
    const running = run('Write', { config }, surroundings);
    await surroundings.stderr.until(/Write:\n {4}.*made\.txt\n {2}c and a allow: .*\nAllow\?/);
    expect(existsSync(join(surroundings.cwd, 'made.txt'))).toBe(false);
    surroundings.stdin.write('y\n');
    expect(await running).toBe(0);
    expect(existsSync(join(surroundings.cwd, 'made.txt'))).toBe(true);
  });

  it('goes on with the last conversation of the folder, and with one by its id', async () => {
    const { config, bodies } = await startProvider([
      { text: 'Hello Ada.' },
      { text: 'You are Ada.' },
      { text: 'Still Ada.' },
    ]);
    const surroundings = makeSurroundings();
    const turn = (prompt: string, more: object) => run(prompt, { config, output: 'json', ...more }, surroundings);
    expect(await turn('I am Ada.', {})).toBe(0);
    const { conversationId } = JSON.parse(surroundings.stdout.text) as { conversationId: string };
    expect(await turn('Who am I?', { continue: true })).toBe(0);
    expect(await turn('And now?', { resume: conversationId })).toBe(0);
    expect(objects(surroundings).map(end => end['conversationId'])).toEqual([
      conversationId,
      conversationId,
      conversationId,
    ]);
    expect(bodies[1]).toMatch(/I am Ada\.[^]*Hello Ada\.[^]*Who am I\?/);
    expect(bodies[2]).toMatch(/I am Ada\.[^]*You are Ada\.[^]*And now\?/);
  });

  it('runs without a store when none can be made, and says so', async () => {
    const surroundings = makeSurroundings();
    noProvider(surroundings);
    writeFileSync(surroundings.env['XDG_STATE_HOME']!, 'a file stands here');
    expect(await run('Look', {}, surroundings)).toBe(0);
    expect(surroundings.stderr.text).toMatch(/conversations in .* cannot be opened .*so this one is not kept/);
    expect(surroundings.stderr.text).toMatch(/The store .* cannot be opened.*This run keeps its work in memory/);
  });

  it.each([
    ['nothing to continue', { continue: true }, /no conversation in .* to continue/],
    ['an unknown conversation', { resume: 'none' }, /no conversation "none"/],
    ['a folder that is not there', { cwd: 'nowhere' }, /There is no folder .*nowhere/],
    ['a file for a folder', { cwd: 'file' }, /is a file/],
    ['a server that is no address', { server: 'localhost:80' }, /--server takes an http or https address/],
    ['a key for nobody', { key: 'k' }, /--key is for the server/],
    ['a config for somebody else', { config: 'x', server: 'http://127.0.0.1:1' }, /--config is about a server inside/],
    ['a config that is not there', { config: 'nowhere.yaml' }, /nowhere\.yaml cannot be read/],
  ])('[product-run-exit-codes] exits 2 on %s, and still writes an end', async (_, options, hint) => {
    const surroundings = makeSurroundings();
    writeFileSync(join(surroundings.cwd, 'file'), '');
    expect(await run('Look', { output: 'stream-json', ...options }, surroundings)).toBe(2);
    expect(surroundings.stderr.text).toMatch(hint);
    expect(objects(surroundings)).toEqual([
      {
        type: 'end',
        outcome: 'failed',
        text: '',
        conversationId: '',
        error: expect.objectContaining({ message: expect.stringMatching(hint) }),
      },
    ]);
  });

  it('[product-run-exit-codes] exits 2 without a prompt', async () => {
    const surroundings = makeSurroundings({ isTerminal: true });
    expect(await run(undefined, {}, surroundings)).toBe(2);
    expect(surroundings.stderr.text).toMatch(/There is no prompt/);
  });

  it('works in the folder of --cwd', async () => {
    const surroundings = makeSurroundings();
    noProvider(surroundings);
    mkdirSync(join(surroundings.cwd, 'inner'));
    writeFileSync(join(surroundings.cwd, 'inner', 'only-here.txt'), '');
    expect(await run('Look', { cwd: 'inner' }, surroundings)).toBe(0);
    expect(surroundings.stdout.text).toContain('only-here.txt');
  });
});
