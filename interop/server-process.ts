import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How long the server may take until it listens, in milliseconds: ten times what it takes on a slow machine. */
const START_MS = 60_000;

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));

/** The arguments of npm that start the server, up to the path of its config. */
export const SERVER_COMMAND = ['start', '--silent', '--', 'serve', '--port', '0', '--config'] as const;

/** The server as its users start it: npm, in a process group of its own. */
export interface ServerProcess {
  readonly url: string;
  /** Everything it printed, over restarts too. */
  readonly output: string;
  /** Ends it as `kill -9` does, at any moment, and starts it again on the port it had. */
  killAndRestart(): Promise<void>;
  stop(): Promise<void>;
}

/** Files of a certificate for this machine that signs itself, as docs/operating.md makes one. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export function makeCertificate(folder: string): CertificateFiles {
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    files.key,
  ];
  execFileSync('openssl', ['req', '-x509', ...key, ...subject, '-out', files.cert], { stdio: 'ignore' });
  return files;
}

export async function startServerProcess(config: string, certificate?: CertificateFiles): Promise<ServerProcess> {
  let output = '';
  const start = async (port: string): Promise<{ child: ChildProcess; url: string }> => {
    const words = SERVER_COMMAND.map(word => (word === '0' ? port : word));
    const secure = certificate ? ['--tls-cert', certificate.cert, '--tls-key', certificate.key] : [];
    const child = spawn('npm', [...words, config, ...secure], {
      cwd: REPOSITORY,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const begin = output.length;
    const url = await new Promise<string>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`the server ${why}:\n${output.slice(begin)}`));
      const guard = setTimeout(() => fail(`did not listen within ${START_MS / 1000} s`), START_MS);
      const note = (piece: Buffer) => {
        output += piece.toString('utf8');
        const found = /tandem listening on (\S+)\n/.exec(output.slice(begin));
        if (!found?.[1]) return;
        clearTimeout(guard);
        resolve(found[1]);
      };
      child.stdout.on('data', note);
      child.stderr.on('data', note);
      child.once('error', error => fail(`could not be started: ${error.message}`));
      child.once('exit', code => {
        clearTimeout(guard);
        fail(`ended with ${code} before it listened`);
      });
    }).catch(async (error: unknown) => {
      await endGroup(child, 'SIGKILL');
      throw error;
    });
    return { child, url };
  };

  let { child, url } = await start('0');
  return {
    get url() {
      return url;
    },
    get output() {
      return output;
    },
    async killAndRestart() {
      await endGroup(child, 'SIGKILL');
      ({ child, url } = await start(new URL(url).port));
    },
    stop: () => endGroup(child, 'SIGTERM'),
  };
}

/** Signals the whole group and waits until its first process, and what it wrote, are gone. */
async function endGroup(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'close');
  process.kill(-child.pid, signal);
  const guard = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), 10_000);
  await gone;
  clearTimeout(guard);
}
