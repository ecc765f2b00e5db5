import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { stateFolder } from '@tandem/client/node';
import { createLog, logLevelOf, resolveConfig, silentLog, startServer } from '@tandem/server';
import type { Config, Log } from '@tandem/server';
import type { StartFailure } from '../start-failure.ts';
import { startFailureOf } from '../start-failure.ts';
import type { Surroundings } from '../surroundings.ts';

/** A server that lives as long as one run, inside its process. */
export interface OwnServer {
  readonly url: string;
  /** The only key that it takes. */
  readonly apiKey: string;
  readonly notices: readonly string[];
  close(): Promise<void>;
}

/** How long its streams may take to end once the run is over; they have ended by then. */
const CLOSE_MS = 500;

/**
 * Starts a server for one run, by the same config as `serve`, on a free port of the loopback. It takes only a key that is made here, so
 * that no other program on this machine can use the models of this user through it. A store that cannot be opened is replaced by memory.
 */
export async function startOwnServer(
  options: { config?: string },
  surroundings: Surroundings,
): Promise<OwnServer | StartFailure> {
  const { env, cwd, stderr } = surroundings;
  let config: Config | undefined;
  try {
    const apiKey = randomBytes(32).toString('hex');
    const sha256 = createHash('sha256').update(apiKey, 'utf8').digest('hex');
    config = {
      ...(await resolveConfig({ path: options.config, cwd, env, host: '127.0.0.1', port: 0 })),
      auth: { keys: [{ name: 'run', sha256, isUnnamed: true }] },
      store: { file: join(stateFolder(), 'server.db') },
    };
    // a person who runs one turn wants to see the turn; whoever wants the log of the server asks for it
    const log = env['LOG_LEVEL'] ? await createLog(logLevelOf(env), line => stderr.write(line)) : silentLog;
    const { server, notices } = await startWithStore(config, log);
    return {
      url: server.url,
      apiKey,
      notices: [...server.notices, ...notices],
      close: () => server.close({ drainMs: CLOSE_MS }),
    };
  } catch (error) {
    const failure = startFailureOf(error, config);
    if (!failure) throw error;
    return failure;
  }
}

async function startWithStore(config: Config, log: Log) {
  try {
    return { server: await startServer(config, { log }), notices: [] };
  } catch (error) {
    const failure = startFailureOf(error, config);
    if (failure?.storeProblem === undefined) throw error;
    const server = await startServer({ ...config, store: { file: ':memory:' } }, { log });
    return { server, notices: [`${failure.storeProblem}. This run keeps its work in memory.`] };
  }
}
