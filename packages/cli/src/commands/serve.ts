import module from 'node:module';
import { createLog, loadRunParts, logLevelOf, resolveConfig, startServer } from '@tandem/server';
import type { Config, Log, RunningServer } from '@tandem/server';
import type { ExitCode } from '../exit-code.ts';
import { EXIT } from '../exit-code.ts';
import { startFailureOf } from '../start-failure.ts';
import type { Surroundings } from '../surroundings.ts';
import { untilAborted } from '../surroundings.ts';
import { readTlsFiles } from '../tls-files.ts';
import type { TlsFiles } from '../tls-files.ts';

/** The flags of `tandem serve`, as they were given. */
export interface ServeOptions {
  readonly config?: string;
  readonly host?: string;
  readonly port?: number;
  readonly json?: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/**
 * Runs the server until it is told to stop. One line on stdout says where it listens, once it does; everything else goes to stderr.
 * The first signal lets the runs at work end, the second one cuts them.
 */
export async function serve(options: ServeOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { stdout, stderr, env, cwd, stop, stopNow } = surroundings;
  const say = (text: string) => stderr.write(`tandem: ${text}\n`);
  let tls: TlsFiles | undefined;
  try {
    tls = readTlsFiles(options, cwd);
  } catch (error) {
    say((error as Error).message);
    return EXIT.usage;
  }
  let config: Config | undefined;
  let server: RunningServer;
  let log: Log;
  try {
    config = await resolveConfig({ path: options.config, cwd, env, host: options.host, port: options.port });
    log = await createLog(logLevelOf(env), line => stderr.write(line));
    server = await startServer(config, { log, tls });
  } catch (error) {
    const failure = startFailureOf(error, config);
    if (!failure) throw error;
    say(failure.text);
    return failure.exitCode;
  }
  for (const notice of server.notices) say(notice);
  say(`Config from ${config.source}; the default model is ${server.catalogue.defaultModel.key}.`);
  stdout.write(
    options.json
      ? `${JSON.stringify({ event: 'listening', url: server.url })}\n`
      : `tandem listening on ${server.url}\n`,
  );

  // a promise that nobody looked after costs a log line, not every run at work
  const onRejection = (error: unknown) => log.error({ error }, 'a fault of this server was not looked after');
  process.on('unhandledRejection', onRejection);
  // while nobody waits yet: the first run finds all of its code, and the next start what this one compiled, however this one is ended
  const warm = loadRunParts().then(() => module.flushCompileCache());
  await untilAborted(stop);
  const { runs } = server.load;
  if (runs > 0)
    say(`Stopping once ${runs === 1 ? 'one run has' : `${runs} runs have`} ended; a second signal stops at once.`);
  const exitCode = await Promise.race([
    Promise.all([server.close(), warm]).then(() => EXIT.done),
    untilAborted(stopNow).then(() => EXIT.failed),
  ]);
  process.off('unhandledRejection', onRejection);
  return exitCode;
}
