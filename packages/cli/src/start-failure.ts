import { ConfigError } from '@tandem/server';
import type { Config } from '@tandem/server';
import type { ExitCode } from './exit-code.ts';
import { EXIT } from './exit-code.ts';

/** Why a server did not start, for a person: what, where and how to mend it. */
export interface StartFailure {
  readonly text: string;
  readonly exitCode: ExitCode;
  /** What is wrong with the store, as a sentence without its full stop, when that alone could not be opened; everything else may be well. */
  readonly storeProblem?: string;
}

/** Calls that the system names in errors of listening. */
const LISTEN_CALLS = new Set(['listen', 'bind', 'getaddrinfo']);
/** Calls that it names in errors of making the store's folder. */
const STORE_CALLS = new Set(['mkdir', 'open', 'stat']);

/** The failure that an error of `resolveConfig` or `startServer` stands for; undefined when it is none that a user can mend. */
export function startFailureOf(error: unknown, config?: Config): StartFailure | undefined {
  if (error instanceof ConfigError) return { text: error.message, exitCode: EXIT.usage };
  if (!(error instanceof Error) || !config) return undefined;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined && LISTEN_CALLS.has(syscall))
    return { text: listenText(code, config), exitCode: EXIT.failed };
  if (code === 'ERR_SQLITE_ERROR' || (syscall !== undefined && STORE_CALLS.has(syscall))) {
    const storeProblem = `The store ${config.store.file} cannot be opened: ${storeReason(code, error.message)}`;
    return {
      text: `${storeProblem}. Make it writable, or name another file under store.url in the config (sqlite::memory: keeps nothing).`,
      exitCode: EXIT.failed,
      storeProblem,
    };
  }
  return undefined;
}

function listenText(code: string | undefined, { listen: { host, port } }: Config): string {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return `${place} is in use by another process. Stop that one, or take another port: --port 0 finds a free one.`;
    case 'EACCES':
      return `${place} may not be taken by this user. Take a port above 1023 with --port.`;
    case 'EADDRNOTAVAIL':
      return `This machine has no address ${host}. Give one of its own with --host, such as 127.0.0.1.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host name ${host} cannot be resolved. Give an address of this machine with --host, such as 127.0.0.1.`;
    default:
      return `${place} cannot be listened on (${code ?? 'unknown reason'}). Try another --host or --port.`;
  }
}

function storeReason(code: string | undefined, message: string): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'EROFS':
      return 'the disk is read-only';
    case 'ENOSPC':
      return 'the disk is full';
    case 'ENOTDIR':
    case 'EEXIST':
      return 'a part of its path is a file';
    default:
      return message;
  }
}
