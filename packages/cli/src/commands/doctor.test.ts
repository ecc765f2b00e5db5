import { writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeSurroundings } from '../../test/surroundings.ts';
import { doctor } from './doctor.ts';

interface Found {
  about: string;
  state: string;
  says: string;
  mend?: string;
}

async function examine(config?: object | string, answer: { status: number } = { status: 200 }) {
  const server = http.createServer((_request, response) => response.writeHead(answer.status).end('{}'));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const surroundings = makeSurroundings({ env: { PATH: process.env['PATH'] ?? '', SHELL: '/bin/sh' } });
  const text = typeof config === 'string' ? config : JSON.stringify(config ?? {});
  writeFileSync(join(surroundings.cwd, 'tandem.json'), text.replaceAll('PORT', String(port)));
  const exitCode = await doctor({ json: true }, surroundings);
  const found = surroundings.stdout.lines.map(line => JSON.parse(line) as Found);
  return {
    exitCode,
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
  it('finds nothing on a machine where all is well', async () => {
    const { exitCode, found } = await examine(provider());
    expect(found.filter(one => one.state !== 'ok')).toEqual([]);
    expect(found.map(one => one.about)).toEqual([
      ...['Node', 'system', 'ripgrep', 'git', 'shell', 'config', 'provider house', 'port', 'store', 'conversations'],
    ]);
    expect(exitCode).toBe(0);
  });

  it('says that a key is refused, and does not show it', async () => {
    const { exitCode, of, text } = await examine(provider(), { status: 401 });
    expect(exitCode).toBe(1);
    expect(of('provider house')).toMatchObject({
      state: 'broken',
      says: expect.stringMatching(/refuses the key \(401\)/),
    });
    expect(text).not.toContain('verysecret');
  });

  it('says that a provider cannot be reached', async () => {
    const { exitCode, of } = await examine(provider({ baseUrl: 'http://127.0.0.1:65534/v1' }));
    expect(exitCode).toBe(1);
    expect(of('provider house')?.says).toMatch(/cannot be reached \(ECONNREFUSED\)/);
  });

  it('says what is wrong with the config, and looks at the rest all the same', async () => {
    const { exitCode, of } = await examine('{"lisen":{}}');
    expect(exitCode).toBe(1);
    expect(of('config')).toMatchObject({ state: 'broken', says: expect.stringContaining('did you mean listen?') });
    expect(of('conversations')?.state).toBe('ok');
  });

  it('says that the port is taken, and how to take another', async () => {
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

  it('says how to mend a store that cannot be written', async () => {
    const { exitCode, of } = await examine({ ...provider(), store: { url: 'sqlite:tandem.json/x.db' } });
    expect(exitCode).toBe(1);
    expect(of('store')).toMatchObject({ state: 'broken', mend: expect.stringContaining('store.url') });
  });
});
