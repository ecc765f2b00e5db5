import { spawn } from 'node:child_process';
import type { SDKMessage } from '@cursor/sdk';
import type { Report } from './scenario.ts';

/** How long a client process may take, in milliseconds. The stock SDK itself gives up on a dead server after about 400 s. */
const CLIENT_MS = 120_000;

/** What a client process prints, one JSON object a line. */
export type ClientLine = { readonly event: SDKMessage } | { readonly report: Report };

export interface ClientPlace {
  readonly url: string;
  readonly workspace: string;
  readonly home: string;
  readonly model: string;
  /** A certificate to trust, for a server with TLS. */
  readonly certificate?: string | undefined;
}

/**
 * Runs one act of a scenario with the stock SDK, in a process that knows nothing of this repository's environment.
 * @param earlier what the acts before it reported
 * @throws when it dies, hangs or throws
 */
export function runClientProcess(
  scenario: string,
  act: number,
  place: ClientPlace,
  earlier: readonly Report[],
  onEvent: (event: SDKMessage) => void,
  signal: AbortSignal,
): Promise<Report> {
  const { url, workspace, home, model, certificate } = place;
  const entry = new URL('client.ts', import.meta.url).pathname;
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    CURSOR_BACKEND_URL: url,
    ...(certificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificate }),
    INTEROP_EARLIER: JSON.stringify(earlier),
  };
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, [entry, scenario, String(act), model], { cwd: workspace, env, stdio, signal });
  let errors = '';
  let lines = '';
  let report: Report | undefined;
  child.stderr.on('data', (piece: Buffer) => (errors = (errors + piece.toString('utf8')).slice(-4000)));
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (piece: string) => {
    const parts = (lines + piece).split('\n');
    lines = parts.pop() ?? '';
    for (const part of parts) {
      const line = JSON.parse(part) as ClientLine;
      if ('event' in line) onEvent(line.event);
      else report = line.report;
    }
  });
  return new Promise((resolve, reject) => {
    let isLate = false;
    const guard = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, CLIENT_MS);
    child.once('error', reject);
    child.once('close', (code, killedBy) => {
      clearTimeout(guard);
      if (report) resolve(report);
      else if (isLate) reject(new Error(`act ${act} hung for ${CLIENT_MS / 1000} s`));
      else reject(new Error(`act ${act} ended with ${code ?? killedBy}: ${errors.trim()}`));
    });
  });
}
