import { createLog, logLevelOf } from '@tandem/server';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { repository } from '../citations.ts';
import { runLine } from '../support/command.ts';
import { startHouse } from '../support/house.ts';
import { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import { prepareServerProcess } from '../support/server-process.ts';
import { startTestServer } from '../support/server.ts';
import { closeConnections, fetchWhole } from '../support/wire.ts';

const MINUTE = 60_000;

describe('the log', () => {
  let now = 0;
  const lines: string[] = [];
  const open = (env: Record<string, string> = {}) =>
    createLog(
      logLevelOf(env),
      line => lines.push(line),
      () => now,
    );
  beforeEach(() => {
    now = 1_800_000_000_000;
    lines.length = 0;
  });

  it('F101: leaves verbose lines out unless it is told otherwise', async () => {
    (await open()).debug({}, 'every little thing');
    expect(lines).toEqual([]);
    (await open({ LOG_LEVEL: 'debug' })).debug({}, 'every little thing');
    expect(lines).toHaveLength(1);
  });

  it('F101: takes no more than so much a minute, whatever floods it, and says what it left out', async () => {
    const log = await open();
    for (let at = 0; at < 20_000; at++)
      log.warn({ at, words: 'x'.repeat(300) }, 'a message of an unknown branch was ignored');
    const written = lines.join('').length;
    expect(written).toBeGreaterThan(500_000);
    expect(written).toBeLessThan(1_100_000);
    const count = lines.length;
    now += MINUTE;
    log.info({}, 'quiet again');
    const [said, last, ...more] = lines.slice(count).map(line => JSON.parse(line));
    expect(said).toMatchObject({ level: 'warn', leftOut: 20_000 - count });
    expect([last.msg, more]).toEqual(['quiet again', []]);
    now += MINUTE;
    log.info({}, 'still quiet');
    expect(JSON.parse(lines.at(-1)!).msg).toBe('still quiet');
    expect(lines).toHaveLength(count + 3);
  });

  it('F101: cuts a line that no person would read, and it stays JSON', async () => {
    const log = await open();
    log.error({ huge: 'y'.repeat(10_000_000) }, 'z'.repeat(10_000_000));
    expect(lines[0]!.length).toBeLessThan(20_000);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'error',
      cutFrom: expect.any(Number),
      time: expect.any(String),
    });
  });
});

describe('a start', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tandem-case-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.each<[string, (file: string) => void]>([
    ['is empty', file => truncateSync(file, 0)],
    ['ends in its header', file => truncateSync(file, 100)],
    ['ends after its first page', file => truncateSync(file, 4_096)],
    ['lacks its second half', file => truncateSync(file, Math.floor(readFileSync(file).length / 2))],
    ['was overwritten with zeros', file => writeFileSync(file, readFileSync(file).fill(0, 100))],
  ])('F103: is not stopped by a store that %s, and the conversation goes on', async (_how, damage) => {
    const house = await startHouse();
    const first = await startTestServer({ folder, provider: house.provider.baseUrl });
    house.say({ text: 'It was the lark.' }, { text: 'done' });
    const peer = await house.peer({ url: first.url }).turn('which bird?');
    expect(peer.fault).toBeUndefined();
    await first.close();
    damage(join(folder, 'tandem.db'));
    for (const rest of readdirSync(folder).filter(name => /-(wal|shm)$/.test(name))) rmSync(join(folder, rest));
    const second = await startTestServer({ folder, provider: house.provider.baseUrl });
    const next = await peer.next({ url: second.url }).turn('sure?', { conversationState: peer.state });
    expect([next.fault, next.text, next.faults]).toEqual([undefined, 'done', []]);
    expect(house.requests[1]!.text).toContain('It was the lark.');
    const aside = readdirSync(folder).filter(name => /^tandem\.db\.broken-\d+$/.test(name));
    const told = second.log.filter(({ level, text }) => level === 'warn' && text.includes('set aside'));
    expect(told.map(({ fields }) => fields['path'])).toEqual(aside.map(name => join(folder, name)));
    expect(aside).toHaveLength(_how === 'is empty' ? 0 : 1);
    await second.close();
    closeConnections();
    await house.close();
  });

  it('F103: with half a config is refused with the place, and nothing of it is started', async () => {
    const whole = JSON.stringify(
      { providers: { demo: { type: 'demo' } }, store: { url: `sqlite:${join(folder, 'a.db')}` } },
      null,
      1,
    );
    for (const length of [1, 20, whole.length - 1]) {
      writeFileSync(join(folder, 'tandem.json'), whole.slice(0, length));
      const { exitCode, stdout, stderr } = await runLine(
        `npx --no -- tandem serve --port 0 --config ${join(folder, 'tandem.json')}`,
      );
      expect([exitCode, stdout]).toEqual([2, '']);
      expect(stderr).toContain(join(folder, 'tandem.json'));
      expect(stderr).not.toMatch(/\n\s+at /);
    }
    expect(readdirSync(folder)).toEqual(['tandem.json']);
  });

  it('F103: needs no certificate and makes none: plain HTTP serves a whole turn', async () => {
    const provider = await startProvider({ answers: () => ({ text: 'done' }) });
    const server = await prepareServerProcess(provider.baseUrl);
    await server.start();
    expect(server.url).toMatch(/^http:/);
    for (const transport of ['h1', 'h2c'] as const) {
      const peer = await new Peer({ url: server.url, transport }).turn('hello');
      expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
    }
    expect(server.logLines().join('\n')).not.toMatch(/certificate|\bCA\b/i);
    closeConnections();
    await server.close();
    await provider.close();
  });

  it('F104: has keys of its own, which alone decide who is served, and sends nobody anywhere to log in', async () => {
    const key = 'the-key-of-this-server-0123456789';
    const provider = await startProvider({ answers: () => ({ text: 'done' }) });
    const sha256 = createHash('sha256').update(key).digest('hex');
    const server = await prepareServerProcess(provider.baseUrl, { auth: { keys: [{ name: 'team', sha256 }] } });
    await server.start();
    const as = (authorization: string) => new Peer({ url: server.url, headers: { authorization } });
    const refused = await as('Bearer a-token-of-somebody-else').turn('hello');
    expect(refused.fault).toMatchObject({ code: 'unauthenticated', retryable: false });
    expect(refused.fault!.detail).not.toMatch(/https?:\/\/|log ?in|sign ?in/i);
    expect(provider.requests).toEqual([]);
    const exchanged = await fetchWhole({
      url: server.url,
      path: '/auth/exchange_user_api_key',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: Buffer.from('{}'),
    });
    const { accessToken } = JSON.parse(exchanged.body.toString()) as { accessToken: string };
    for (const bearer of [key, accessToken]) {
      const peer = await as(`Bearer ${bearer}`).turn('hello');
      expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);
    }
    // the key is the server's alone: the provider never sees it
    expect(JSON.stringify(provider.requests.map(({ headers, text }) => [headers, text]))).not.toContain(key);
    closeConnections();
    await server.close();
    await provider.close();
  });
});

describe('the checks', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tandem-checks-'));
    for (const path of ['scripts', 'packages/one', 'test', 'node_modules/.bin'])
      mkdirSync(join(folder, path), { recursive: true });
    for (const path of ['packages/one', 'test']) writeFileSync(join(folder, path, 'tsconfig.json'), '{}');
    copyFileSync(join(repository, 'scripts/check.js'), join(folder, 'scripts/check.js'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'scripts/generate.js'), '');
    for (const name of ['tsc', 'oxlint', 'oxfmt', 'knip']) make(name, 'exit 0');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const make = (name: string, script: string) =>
    writeFileSync(join(folder, 'node_modules/.bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const check = (env: Record<string, string>) => {
    const { status, stdout } = spawnSync(process.execPath, ['scripts/check.js'], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      encoding: 'utf8',
    });
    return { status, stdout, said: stdout.split('\n').filter(line => /^(ok|FAILED|skipped)/.test(line)) };
  };
  /** The same inside an editor, in a terminal of CI, and anywhere else. */
  const places: Record<string, string>[] = [{}, { CI: 'true' }, { TERM_PROGRAM: 'vscode', VSCODE_PID: '1' }];

  it('F107: run in full wherever they run', () => {
    for (const env of places) {
      const { status, stdout, said } = check(env);
      expect(said.map(line => line.replace(/ \(.*$/, ''))).toEqual([
        'ok       types packages/one',
        'ok       types test',
        'ok       lint',
        'ok       format',
        'ok       unused',
        'ok       generated',
      ]);
      expect([status, stdout.trim().split('\n').at(-1)]).toEqual([0, 'every check passed']);
    }
  });

  it.each([
    ['tsc', 'types'],
    ['oxlint', 'lint'],
    ['oxfmt', 'format'],
    ['knip', 'unused'],
  ])('F107: end with a failure that names it when %s finds something or is not there', (tool, name) => {
    for (const env of places) {
      make(tool, 'echo "here is what is wrong"; exit 1');
      const { status, stdout, said } = check(env);
      expect(status).toBe(1);
      expect(said).toHaveLength(6);
      expect(said.filter(line => line.startsWith('FAILED'))).toEqual(said.filter(line => line.includes(` ${name}`)));
      expect(stdout).toContain('here is what is wrong');
      rmSync(join(folder, 'node_modules/.bin', tool));
      const without = check(env);
      expect(without.status).toBe(1);
      expect(without.said.some(line => line.startsWith('FAILED') && line.includes(name))).toBe(true);
    }
  });
});
