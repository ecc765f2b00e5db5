import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
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

export async function startServerProcess(config: string): Promise<ServerProcess> {
  let output = '';
  const start = async (port: string): Promise<{ child: ChildProcess; url: string }> => {
    const words = SERVER_COMMAND.map(word => (word === '0' ? port : word));
    const child = spawn('npm', [...words, config], {
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
