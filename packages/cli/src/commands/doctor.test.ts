import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder, makeSurroundings } from '../../test/surroundings.ts';
import { doctor } from './doctor.ts';

interface Found {
  about: string;
  state: string;
  says: string;
  mend?: string;
}

async function examine(
  config?: object | string,
  {
    status = 200,
    body = '{}',
    files = {},
  }: { status?: number; body?: string; files?: Readonly<Record<string, string>> } = {},
) {
  const requests: http.IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    requests.push(request);
    response.writeHead(status).end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const surroundings = makeSurroundings({ env: { PATH: process.env['PATH'] ?? '', SHELL: '/bin/sh' } });
  const text = typeof config === 'string' ? config : JSON.stringify(config ?? {});
  writeFileSync(join(surroundings.cwd, 'tandem.json'), text.replaceAll('PORT', String(port)));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(surroundings.cwd, path)), { recursive: true });
    writeFileSync(join(surroundings.cwd, path), content);
  }
  const exitCode = await doctor({ json: true }, surroundings);
  const found = surroundings.stdout.lines.map(line => JSON.parse(line) as Found);
  return {
    exitCode,
    requests,
    found,
    text: surroundings.stdout.text,
    of: (about: string) => found.find(one => one.about === about),
  };
}

const provider = (more: object = {}) => ({
  listen: { port: 0 },
  providers: {
    house: { type: 'openai-compatible', baseUrl: 'http://127.0.0.1:PORT/v1', apiKey: 'sk-verysecret1', ...more },
  },
});

describe('doctor', () => {
  it('[product-doctor] finds nothing on a machine where all is well', async () => {
    const { exitCode, found } = await examine(provider());
    expect(found.filter(one => one.state !== 'ok')).toEqual([]);
    expect(found.map(one => one.about)).toEqual([
      ...[
        'Node',
        'system',
        'ripgrep',
        'git',
        'shell',
        'permissions',
        'config',
        'provider house',
        'port',
        'store',
        'conversations',
      ],
    ]);
    expect(exitCode).toBe(0);
  });

  it('[product-doctor] says that a key is refused, and does not show it', async () => {
    const { exitCode, of, text } = await examine(provider(), { status: 401 });
    expect(exitCode).toBe(1);
    expect(of('provider house')).toMatchObject({
      state: 'broken',
      says: expect.stringMatching(/refuses the key \(401\)/),
    });
    expect(text).not.toContain('verysecret');
  });

  it('[product-doctor] compares the models of the config with those that the provider lists', async () => {
    const config = provider({ models: ['one', 'two', 'local'].map(id => ({ id })) });
    const list = (...ids: string[]) => ({ body: JSON.stringify({ data: ids.map(id => ({ id })) }) });
    const some = await examine(config, list('models/one', 'local:latest', 'three'));
    expect(some.of('provider house')).toEqual({
      about: 'provider house',
      state: 'warning',
      says: expect.stringMatching(/does not list two$/),
      mend: expect.stringMatching(/^It lists one, local:latest, three\. Mend the ids under providers\.house\.models/),
    });
    expect(some.exitCode).toBe(0);
    const all = await examine(config, list('one', 'two', 'local'));
    expect(all.of('provider house')).toMatchObject({ state: 'ok', says: expect.stringMatching(/lists every model/) });
    for (const body of ['<html>', '{}', '[]'.padEnd(3), '{"data":{}}', 'null']) {
      const { of } = await examine(config, { body });
      expect(of('provider house')?.state, body).toBe(body.startsWith('[') ? 'warning' : 'ok');
    }
  });

  it('[product-doctor] asks each type of provider in its own way, and says of which it cannot', async () => {
    const own = { apiKey: 'sk-verysecret1', baseUrl: 'http://127.0.0.1:PORT/v1' };
    const { found, requests, exitCode, text } = await examine(
      {
        listen: { port: 0 },
        providers: {
          a: { type: 'anthropic', ...own, models: [{ id: 'claude-x' }] },
          g: { type: 'google', ...own, models: [{ id: 'claude-x' }] },
          z: { type: 'azure', ...own, models: [{ id: 'claude-x' }] },
        },
      },
      { body: '{"models":[{"name":"models/claude-x"}]}' },
    );
    const states = found.flatMap(({ about, state }) => (about.startsWith('provider') ? `${about} ${state}` : []));
    expect(states).toEqual(['provider a ok', 'provider g ok', 'provider z warning']);
    expect(requests.map(({ url, headers }) => [url, headers['x-api-key'] ?? headers['x-goog-api-key']])).toEqual(
      expect.arrayContaining([
        ['/v1/models?limit=1000', 'sk-verysecret1'],
        ['/v1/models?pageSize=1000', 'sk-verysecret1'],
      ]),
    );
    expect(requests).toHaveLength(2);
    expect(exitCode).toBe(0);
    expect(text).not.toContain('verysecret');
  });

  it('[product-doctor] says that a provider cannot be reached', async () => {
    const { exitCode, of } = await examine(provider({ baseUrl: 'http://127.0.0.1:65534/v1' }));
    expect(exitCode).toBe(1);
    expect(of('provider house')?.says).toMatch(/cannot be reached: nobody listens there \(ECONNREFUSED\)$/);
  });

  it('[product-doctor] says what is wrong with the config, and looks at the rest all the same', async () => {
    const { exitCode, of } = await examine('{"lisen":{}}');
    expect(exitCode).toBe(1);
    expect(of('config')).toMatchObject({ state: 'broken', says: expect.stringContaining('did you mean listen?') });
    expect(of('conversations')?.state).toBe('ok');
  });

  it('[product-doctor] looks for every model that routes and fallbacks name', async () => {
    const models = [{ id: 'one', fallback: ['two'] }, { id: 'two' }];
    const body = JSON.stringify({ data: models });
    const routed = (model: string) => ({ ...provider({ models }), routes: { fast: { models: [{ model }] } } });
    const well = await examine(routed('house/two'), { body });
    expect(well.of('models')).toMatchObject({ state: 'ok', says: expect.stringContaining('fallbacks') });
    const { exitCode, of } = await examine(routed('tow'), { body });
    expect(of('models')).toMatchObject({
      state: 'broken',
      says: expect.stringContaining('routes.fast.models[0].model: expected a model of a provider, found "tow"'),
    });
    expect(exitCode).toBe(1);
  });

  it('[product-doctor] says that the port is taken, and how to take another', async () => {
    const config = { ...provider(), listen: { port: 'PORT' } };
    const { exitCode, of } = await examine(JSON.stringify(config).replace('"PORT"', 'PORT'), { status: 404 });
    expect(exitCode).toBe(1);
    expect(of('port')).toMatchObject({ state: 'broken', mend: expect.stringContaining('--port 0') });
  });

  it('says that the demo model is none, without failing for it', async () => {
    const { exitCode, of } = await examine({ listen: { port: 0 }, providers: { d: { type: 'demo' } } });
    expect(of('provider d')).toMatchObject({ state: 'warning', mend: expect.stringContaining('OPENAI_API_KEY') });
    expect(exitCode).toBe(0);
  });

  it('[product-store-private] says that others can read the store, and how to mend it', async () => {
    const folder = makeFolder();
    const file = join(folder, 'x.db');
    writeFileSync(file, '');
    const stateOf = async (folderMode: number, fileMode: number) => {
      chmodSync(folder, folderMode);
      chmodSync(file, fileMode);
      return (await examine({ ...provider(), store: { url: `sqlite:${file}` } })).of('store');
    };
    expect(await stateOf(0o755, 0o644)).toMatchObject({ state: 'warning', mend: `chmod 600 ${file}*` });
    expect((await stateOf(0o700, 0o644))?.state).toBe('ok');
    expect((await stateOf(0o755, 0o600))?.state).toBe('ok');
  });

  it('[product-doctor] says how to mend a store that cannot be written', async () => {
    const { exitCode, of } = await examine({ ...provider(), store: { url: 'sqlite:tandem.json/x.db' } });
    expect(exitCode).toBe(1);
    expect(of('store')).toMatchObject({ state: 'broken', mend: expect.stringContaining('store.url') });
  });

  it('[product-doctor, bad-permissions-file] says what is wrong with the rules of the folder', async () => {
    const { exitCode, of } = await examine(provider(), { files: { '.tandem/permissions.json': '{"deny": ["fly"]}' } });
    expect(exitCode).toBe(1);
    expect(of('permissions')).toMatchObject({ state: 'broken', says: expect.stringMatching(/"fly" is no rule/) });
    const other = await examine(provider(), { files: { '.tandem/permissions.json': '{"allow": ["shell"]}' } });
    expect(other.exitCode).toBe(0);
    expect(other.of('permissions')).toMatchObject({ state: 'warning', says: expect.stringContaining('not taken') });
  });
});
