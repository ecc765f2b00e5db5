import { writeFileSync } from 'node:fs';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder, makeSurroundings } from '../../test/surroundings.ts';
import type { TestSurroundings } from '../../test/surroundings.ts';
import { serve } from './serve.ts';

function writeConfig(config: unknown): string {
  const path = join(makeFolder(), 'tandem.json');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

const demo = { providers: { demo: { type: 'demo' } }, store: { url: 'sqlite::memory:' } };

async function stopped(surroundings: TestSurroundings, serving: Promise<number>): Promise<number> {
  surroundings.interrupt();
  return serving;
}

describe('serve', () => {
  it('[product-serve-announces] prints its URL once it accepts connections, and nothing else on stdout', async () => {
    const surroundings = makeSurroundings();
    const serving = serve({ config: writeConfig(demo), port: 0 }, surroundings);
    const [, url] = await surroundings.stdout.until(/^tandem listening on (http:\/\/127\.0\.0\.1:\d+)\n$/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(await stopped(surroundings, serving)).toBe(0);
    expect(surroundings.stdout.lines).toHaveLength(1);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it('[product-serve-announces] prints one JSON line with --json', async () => {
    const surroundings = makeSurroundings();
    const serving = serve({ config: writeConfig(demo), port: 0, json: true }, surroundings);
    await surroundings.stdout.until(/\n/);
    expect(JSON.parse(surroundings.stdout.text)).toEqual({
      event: 'listening',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    });
    expect(await stopped(surroundings, serving)).toBe(0);
  });

  it('[product-serve-announces] says which config it read and which model is the default', async () => {
    const path = writeConfig(demo);
    for (const [options, source] of [
      [{ config: path }, path],
      [{}, 'the environment'],
    ] as const) {
      const surroundings = makeSurroundings();
      const serving = serve({ ...options, port: 0 }, surroundings);
      await surroundings.stdout.until(/\n/);
      expect(await stopped(surroundings, serving)).toBe(0);
      expect(surroundings.stderr.lines).toContain(`tandem: Config from ${source}; the default model is demo/demo.`);
    }
  });

  it('finds the config of the folder, and a flag wins over it', async () => {
    const surroundings = makeSurroundings();
    writeFileSync(join(surroundings.cwd, 'tandem.json'), JSON.stringify({ ...demo, listen: { host: '::1', port: 1 } }));
    const serving = serve({ host: '127.0.0.1', port: 0 }, surroundings);
    await surroundings.stdout.until(/http:\/\/127\.0\.0\.1:\d+\n/);
    expect(await stopped(surroundings, serving)).toBe(0);
  });

  it('[bad-port-in-use] names the port that is in use and the way out', async () => {
    const taken = net.createServer().listen(0, '127.0.0.1');
    await new Promise(resolve => taken.once('listening', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const surroundings = makeSurroundings();
    expect(await serve({ config: writeConfig(demo), port }, surroundings)).toBe(1);
    expect(surroundings.stderr.text).toBe(
      `tandem: 127.0.0.1:${port} is in use by another process. Stop that one, or take another port: --port 0 finds a free one.\n`,
    );
    expect(surroundings.stdout.text).toBe('');
  });

  it('refuses a broken config with exit code 2, and starts nothing', async () => {
    const surroundings = makeSurroundings();
    expect(await serve({ config: writeConfig({ ...demo, listn: {} }), port: 0 }, surroundings)).toBe(2);
    expect(surroundings.stderr.text).toMatch(/tandem\.json[^]*listn: unknown key, did you mean listen\?/);
    expect(surroundings.stdout.text).toBe('');
  });

  it('[bad-log-level] refuses a LOG_LEVEL that is none with exit code 2', async () => {
    const surroundings = makeSurroundings({ env: { LOG_LEVEL: 'loud' } });
    expect(await serve({ config: writeConfig(demo), port: 0 }, surroundings)).toBe(2);
    expect(surroundings.stderr.text).toMatch(
      /LOG_LEVEL is "loud"; expected one of debug, info, warn, error, silent\.\n$/,
    );
    expect(surroundings.stdout.text).toBe('');
  });

  it('says which store cannot be opened and how to mend it', async () => {
    const file = join(makeFolder(), 'file');
    writeFileSync(file, 'no database');
    for (const path of [file, join(file, 'below', 'x.db')]) {
      const surroundings = makeSurroundings();
      expect(
        await serve({ config: writeConfig({ ...demo, store: { url: `sqlite:${path}` } }), port: 0 }, surroundings),
      ).toBe(1);
      expect(surroundings.stderr.text).toMatch(
        /^tandem: The store .*(file is not a database|a part of its path is a file)\. Make it writable/,
      );
    }
  });

  it('refuses TLS files that are missing, alone, or no certificate and its key', async () => {
    const empty = join(makeFolder(), 'empty.pem');
    writeFileSync(empty, 'nothing');
    const cases = [
      [{ tlsCert: 'x' }, /go together: give --tls-key too/],
      [{ tlsCert: 'gone.pem', tlsKey: 'gone.pem' }, /--tls-cert gone.pem cannot be read: ENOENT/],
      [{ tlsCert: empty, tlsKey: empty }, /holds no certificate in PEM form/],
    ] as const;
    for (const [options, words] of cases) {
      const surroundings = makeSurroundings();
      expect(await serve(options, surroundings)).toBe(2);
      expect(surroundings.stderr.text).toMatch(words);
    }
  });
});
