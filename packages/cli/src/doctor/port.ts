import { createServer } from 'node:net';
import type { Config } from '@tandem/server';
import type { Finding } from './finding.ts';

/** How long whoever has the port may take to say who it is. */
const NEIGHBOUR_MS = 2_000;

/** Whether `tandem serve` could listen where the config says. */
export async function examinePort({ listen: { host, port } }: Config): Promise<Finding> {
  const about = 'port';
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const code = await tryListening(host, port);
  if (code === undefined) return { about, state: 'ok', says: `${place} is free` };
  if (code === 'EADDRINUSE' && (await isHealthy(place))) {
    return { about, state: 'ok', says: `a server answers at http://${place} already` };
  }
  return {
    about,
    state: 'broken',
    says: `${place} cannot be listened on (${code})`,
    mend:
      code === 'EADDRINUSE'
        ? 'Stop the process that has it, or take another: tandem serve --port 0 finds a free one.'
        : 'Change listen.host and listen.port in the config, or give --host and --port.',
  };
}

function tryListening(host: string, port: number): Promise<string | undefined> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', error => resolve((error as NodeJS.ErrnoException).code ?? 'unknown reason'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

async function isHealthy(place: string): Promise<boolean> {
  try {
    const answer = await fetch(`http://${place}/healthz`, { signal: AbortSignal.timeout(NEIGHBOUR_MS) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false; // whoever it is, it is no server of ours
  }
}
