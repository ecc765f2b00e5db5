import { resolveConfig, startServer } from '@tandem/server';
import type { Clock, Log, RunningServer, ServerParts } from '@tandem/server';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from './manual-clock.ts';

/** What the scripted provider is called with: it may reach that provider and nobody else. */
export const PLANTED_SECRETS = {
  'the key of the provider': 'provider-key-do-not-leak',
  'a header of the provider': 'provider-header-do-not-leak',
} as const;

/** One line that the server logged. */
export interface LogLine {
  readonly level: keyof Log;
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface TestServer extends RunningServer {
  readonly log: LogLine[];
  /** A folder of its own, gone after `close`. */
  readonly folder: string;
}

export interface TestServerOptions extends Omit<ServerParts, 'log'> {
  /** Base URL of a scripted provider; without one the demo model answers. */
  readonly provider?: string | undefined;
  /** More of the config file, merged over the defaults: `{ limits: { messageBytes: 65536 } }`. */
  readonly config?: Record<string, unknown>;
  readonly clock?: Clock;
  /** A folder to keep over a restart; the test removes it itself. */
  readonly folder?: string;
  readonly port?: number;
  /** Whether the port speaks TLS, with a certificate made for this test. */
  readonly secure?: boolean;
}

/**
 * A whole server in this process: real sockets, real SQLite, a config file that went through the real loader. `test-model` sees
 * images and has a window of 200,000 tokens, `blind-model` sees none.
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { provider, config: more = {}, folder: kept, port = 0, secure = false, ...parts } = options;
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'tandem-test-'));
  const models = [
    { id: 'test-model', name: 'Test model', contextWindow: 200_000, maxOutput: 8_000, vision: true },
    {
      id: 'blind-model',
      name: 'Blind model',
      contextWindow: 40_000,
      maxOutput: 2_000,
      vision: false,
      aliases: ['eyeless'],
    },
  ];
  const file = join(folder, 'tandem.json');
  const scripted = provider && {
    providers: {
      scripted: {
        type: 'openai-compatible',
        baseUrl: provider,
        apiKey: PLANTED_SECRETS['the key of the provider'],
        headers: { 'x-gateway-token': PLANTED_SECRETS['a header of the provider'] },
        models,
      },
    },
    defaultModel: 'scripted/test-model',
  };
  const whole = {
    ...(scripted ?? { providers: { demo: { type: 'demo' } } }),
    store: { url: `sqlite:${join(folder, 'tandem.db')}` },
    ...more,
  };
  writeFileSync(file, JSON.stringify(whole));
  const config = await resolveConfig({ path: file, cwd: folder, env: {}, port });
  const log: LogLine[] = [];
  const line = (level: keyof Log) => (fields: Readonly<Record<string, unknown>>, text: string) =>
    void log.push({ level, text, fields });
  const server = await startServer(config, {
    ...parts,
    ...(secure ? { tls: selfSigned(folder) } : {}),
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
  });
  return {
    ...server,
    get load() {
      return server.load;
    },
    log,
    folder,
    async close(how = { drainMs: 0 }) {
      const closing = server.close(how);
      // draining waits on the clock, and a clock that stands would never let it end
      if (parts.clock instanceof ManualClock) parts.clock.advance(how.drainMs ?? 0);
      await closing;
      if (!kept) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A certificate for 127.0.0.1 that signs itself, as docs/operating.md makes one. */
function selfSigned(folder: string): { cert: Buffer; key: Buffer } {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const made = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost,IP:127.0.0.1',
  ];
  execFileSync('openssl', ['req', '-x509', ...made, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { cert: readFileSync(cert), key: readFileSync(key) };
}
