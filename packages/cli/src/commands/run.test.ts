import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProvider } from '../../test/provider.ts';
import type { ModelAnswer } from '../../test/provider.ts';
import { makeFolder, makeSurroundings } from '../../test/surroundings.ts';
import type { TestSurroundings } from '../../test/surroundings.ts';
import { run } from './run.ts';
import type { RunOptions } from './run.ts';

const noProvider = (surroundings: TestSurroundings) =>
  writeFileSync(join(surroundings.cwd, 'tandem.json'), '{"providers":{"demo":{"type":"demo"}}}');

interface Line {
  type: string;
  [name: string]: unknown;
}

const objects = (surroundings: TestSurroundings) => surroundings.stdout.lines.map(line => JSON.parse(line) as Line);

/** A signal of its own for one of several runs. */
function stoppable() {
  const stop = new AbortController();
  return { stop: stop.signal, interrupt: () => stop.abort() };
}

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
    expect(stderr.text).toMatch(/Done in \d+\.\d s · \$0\.00\n$/);
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

  it('[product-answering-model] prices a turn by the model that stood in, and names it', async () => {
    const answer = { text: 'from the spare', usage: { prompt_tokens: 1_000_000, completion_tokens: 0 } };
    const runWith = async (options: RunOptions, answers: readonly ModelAnswer[]) => {
      const { config } = await startProvider(answers);
      const { providers } = JSON.parse(readFileSync(config, 'utf8')) as { providers: { scripted: object } };
      const price = (input: number) => ({ input, output: 0 });
      const models = [
        { id: 'first', price: price(1), fallback: ['spare'] },
        { id: 'spare', name: 'The Spare', price: price(7) },
      ];
      const routes = { either: { models: [{ model: 'spare' }] } };
      const changed = { providers: { scripted: { ...providers.scripted, models } }, routes, defaultModel: 'first' };
      writeFileSync(config, JSON.stringify({ ...changed, limits: { providerAttempts: 1 } }));
      const surroundings = makeSurroundings();
      expect(await run('Look', { config, ...options }, surroundings)).toBe(0);
      return surroundings;
    };
    const down: ModelAnswer = { status: 503 };
    const own = await runWith({}, [answer]);
    expect(own.stderr.text).toMatch(/ out · \$1\.00\n$/);
    const fallen = await runWith({}, [down, answer]);
    expect(fallen.stderr.text).toMatch(/ out · \$7\.00 · answered by The Spare\n$/);
    const routed = await runWith({ model: 'either' }, [answer]);
    expect(routed.stderr.text).toMatch(/ out · \$7\.00 · answered by The Spare\n$/);
    for (const [model, answers] of [
      ['first', [answer]],
      ['spare', [down, answer]],
    ] as const) {
      const { stdout } = await runWith({ output: 'json' }, answers);
      expect(JSON.parse(stdout.text)).toMatchObject({ type: 'end', outcome: 'ended', model });
    }
    // whoever answered the first call, what both used stands in one sum
    const list = { tool: 'Glob', args: { glob_pattern: '*' } };
    const mixed = await runWith({}, [{ ...list, usage: { prompt_tokens: 5, completion_tokens: 5 } }, down, answer]);
    expect(mixed.stderr.text).toMatch(/ out · answered by The Spare\n$/);
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

  it('[product-permission-default] is read-only without a terminal: the model is told and the file is not made', async () => {
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

  it('[product-permission-default] asks on a terminal, and does what was allowed', async () => {
    const { config } = await startProvider([
      { tool: 'Write', args: { path: 'made.txt', contents: 'x' } },
      { text: 'It is there.' },
    ]);
    const surroundings = makeSurroundings({ isTerminal: true, env: { NO_COLOR: '1' } });
    const running = run('Write', { config }, surroundings);
    await surroundings.stderr.until(/Write:\n {4}.*made\.txt\n {4}\+x\n {2}c and a allow by a rule: .*\nAllow\?/);
    expect(existsSync(join(surroundings.cwd, 'made.txt'))).toBe(false);
    surroundings.stdin.write('y\n');
    expect(await running).toBe(0);
    expect(existsSync(join(surroundings.cwd, 'made.txt'))).toBe(true);
    expect(surroundings.stderr.text).not.toContain('is kept in');
  });

  it('[product-permission-question] keeps the rule of the answer always, and says where', async () => {
    const { config } = await startProvider([
      { tool: 'Write', args: { path: 'made.txt', contents: 'x' } },
      { text: 'It is there.' },
    ]);
    const surroundings = makeSurroundings({ isTerminal: true, env: { NO_COLOR: '1' } });
    const running = run('Write', { config }, surroundings);
    await surroundings.stderr.until(/Allow\?/);
    surroundings.stdin.write('a\n');
    expect(await running).toBe(0);
    const [, file = ''] =
      /The rule "write: \*\*" for this folder is kept in (\S+)\.\n/.exec(surroundings.stderr.text) ?? [];
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      folders: { [surroundings.cwd]: { allow: ['write: **'] } },
    });
  });

  it('[product-continue] goes on with the last conversation of the folder, and with one by its id', async () => {
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

  it('[product-continue] goes on after a turn that failed and after one that was cancelled', async () => {
    const { config, bodies } = await startProvider([
      { status: 400 },
      { text: 'Let me see', hangs: true },
      { text: 'Plum.' },
    ]);
    const surroundings = makeSurroundings();
    const turn = (prompt: string, more: object = {}, on = surroundings) => run(prompt, { config, ...more }, on);
    expect(await turn('The word is plum.')).toBe(1);
    const second = { ...surroundings, ...stoppable() };
    const running = turn('What is it?', { continue: true }, second);
    await surroundings.stdout.until(/Let me see/);
    second.interrupt();
    expect(await running).toBe(130);
    expect(await turn('Well?', { continue: true })).toBe(0);
    expect(bodies[1]).toMatch(/The word is plum\.[^]*What is it\?/);
    expect(bodies[2]).toMatch(/The word is plum\.[^]*What is it\?[^]*Well\?/);
  });

  it('[product-permission-auto] changes files without a question, and leaves alone what is outside or denied', async () => {
    const { config, bodies } = await startProvider([
      { tool: 'Write', args: { path: 'inside.txt', contents: 'x' } },
      { tool: 'Write', args: { path: '../outside.txt', contents: 'x' } },
      { tool: 'Shell', args: { command: 'sudo touch denied.txt' } },
      { text: 'One of three.' },
    ]);
    const surroundings = makeSurroundings({ cwd: join(makeFolder(), 'work') });
    mkdirSync(surroundings.cwd);
    expect(await run('Write', { config, permission: 'auto' }, surroundings)).toBe(0);
    const made = ['inside.txt', '../outside.txt', 'denied.txt'].map(path => existsSync(join(surroundings.cwd, path)));
    expect(made).toEqual([true, false, false]);
    expect(surroundings.stdout.text).toMatch(
      /Edit \S*outside\.txt\n {2}✗ .*\n● Run sudo touch denied\.txt\n {2}✗ .*denylist/,
    );
    expect(bodies[3]).toMatch(/outside of the workspace|outside the workspace/);
    expect(bodies[3]).toContain('denylist');
  });

  it('[product-run-quiet] writes the answer alone, and a failure to stderr', async () => {
    const { config } = await startProvider([
      { tool: 'Read', args: { path: 'a.txt' } },
      { text: 'It says hello.' },
      { status: 400 },
    ]);
    const surroundings = makeSurroundings();
    writeFileSync(join(surroundings.cwd, 'a.txt'), 'hello\n');
    expect(await run('Look', { config, quiet: true }, surroundings)).toBe(0);
    expect([surroundings.stdout.text, surroundings.stderr.text]).toEqual(['It says hello.\n', '']);
    expect(await run('Look', { config, quiet: true }, surroundings)).toBe(1);
    expect(surroundings.stdout.text).toBe('It says hello.\n');
    expect(surroundings.stderr.text).toMatch(/^tandem: .*the model said no.*\n$/);
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
    [
      'a mode that its own server lacks',
      { mode: 'plan' as const },
      /works in agent mode alone; plan is for a server .*--server/,
    ],
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

  it.each([
    ['a slip of a key', '{"denny": ["shell"]}', /permissions\.json: denny: unknown key, did you mean deny\?\n$/],
    ['no rule', '{"deny": ["fly"]}', /permissions\.json: "fly" is no rule; .*\n$/],
    ['no JSON', '{', /permissions\.json is not JSON: .*\n$/],
  ])('[bad-permissions-file, product-run-exit-codes] exits 2 on a permissions file with %s', async (_, text, hint) => {
    const surroundings = makeSurroundings();
    noProvider(surroundings);
    mkdirSync(join(surroundings.env['XDG_CONFIG_HOME']!, 'tandem'), { recursive: true });
    writeFileSync(join(surroundings.env['XDG_CONFIG_HOME']!, 'tandem', 'permissions.json'), text);
    expect(await run('Look', {}, surroundings)).toBe(2);
    expect(surroundings.stderr.lines).toHaveLength(1);
    expect(surroundings.stderr.text).toMatch(hint);
    expect(surroundings.stdout.text).toBe('');
  });

  it('[product-permission-rules] says that allow rules of an untrusted folder are not taken', async () => {
    const surroundings = makeSurroundings();
    noProvider(surroundings);
    mkdirSync(join(surroundings.cwd, '.tandem'));
    writeFileSync(join(surroundings.cwd, '.tandem', 'permissions.json'), '{"allow": ["shell: make"]}');
    expect(await run('Look', {}, surroundings)).toBe(0);
    expect(surroundings.stderr.text).toMatch(
      /^tandem: \S*permissions\.json has an allow rule .*to trust it, put "trusted"/,
    );
  });

  it('[product-run-exit-codes] exits 2 without a prompt', async () => {
    const surroundings = makeSurroundings({ isTerminal: true });
    expect(await run(undefined, {}, surroundings)).toBe(2);
    expect(surroundings.stderr.text).toMatch(/There is no prompt/);
  });

  it('[product-cost] ends with time, tokens and, where the price of the model is known, the cost', async () => {
    const usage = { prompt_tokens: 200_000, completion_tokens: 1_000, total_tokens: 201_000 };
    const answer = { text: 'Hi.', usage };
    const line = async (model: object, options: object = {}) => {
      const { config } = await startProvider([answer], model);
      const surroundings = makeSurroundings();
      expect(await run('Hello', { config, ...options }, surroundings)).toBe(0);
      return surroundings.stderr.lines.at(-1);
    };
    const price = { input: 2, output: 10 };
    expect(await line({ price })).toMatch(/^Done in \d+\.\d s · 200,000 tokens in, 1,000 out · \$0\.41$/);
    expect(await line({ price, aliases: ['it'] }, { model: 'it' })).toMatch(/ · \$0\.41$/);
    expect(await line({ price: { ...price, currency: 'EUR' } })).not.toContain('$');
    expect(await line({ price: { ...price, tiers: [{ above: 100_000, input: 4, output: 20 }] } })).not.toContain('$');
    expect(await line({ price: { ...price, tiers: [{ above: 200_000, input: 4, output: 20 }] } })).toMatch(/\$0\.41$/);
    expect(await line({})).toMatch(/^Done in \d+\.\d s · 200,000 tokens in, 1,000 out$/);
  });

  it('[product-run-cwd] works in the folder of --cwd', async () => {
    const surroundings = makeSurroundings();
    noProvider(surroundings);
    mkdirSync(join(surroundings.cwd, 'inner'));
    writeFileSync(join(surroundings.cwd, 'inner', 'only-here.txt'), '');
    expect(await run('Look', { cwd: 'inner' }, surroundings)).toBe(0);
    expect(surroundings.stdout.text).toContain('only-here.txt');
  });
});
