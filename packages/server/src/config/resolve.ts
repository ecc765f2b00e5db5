import { join } from 'node:path';
import type { Config } from './config.ts';
import { ENVIRONMENT } from './config.ts';
import { ConfigError } from './config-error.ts';
import type { Probe } from './environment.ts';
import { providersOfEnvironment } from './environment.ts';
import type { Environment } from './file.ts';
import { expandHome, findConfigFile } from './file.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { FileSettings } from './read.ts';

/** Where the config is looked for, and what the command line adds to it. */
export interface ConfigPlace {
  /** The file of `--config`; undefined looks in the working folder, then in the user's config folder. */
  readonly path?: string | undefined;
  readonly cwd: string;
  readonly env: Environment;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly probe?: Probe;
}

const DEFAULT_PORT = 7788;

/**
 * The config of this start: from a file, else from the environment.
 * @throws ConfigError whose message, of one or more lines, is for a person.
 */
export async function resolveConfig(place: ConfigPlace): Promise<Config> {
  const { env } = place;
  const file = await findConfigFile(place);
  const settings: FileSettings = file ? await (await import('./read.ts')).readConfigFile(file, env) : { keys: [] };
  const fromEnvironment = settings.providers ? undefined : await providersOfEnvironment(env, place.probe);
  const providers = settings.providers ?? fromEnvironment?.providers ?? [];
  const source = file?.path ?? ENVIRONMENT;
  if (providers.length === 0) {
    throw new ConfigError(
      `The config ${source} cannot be used:\n  providers: expected at least one provider, found none`,
    );
  }
  const config: Config = {
    listen: {
      host: place.host ?? settings.listen?.host ?? '127.0.0.1',
      port: place.port ?? settings.listen?.port ?? DEFAULT_PORT,
      allowedOrigins: settings.listen?.allowedOrigins ?? [],
      allowedHosts: settings.listen?.allowedHosts ?? [],
    },
    providers,
    ...(settings.defaultModel !== undefined && { defaultModel: settings.defaultModel }),
    auth: { keys: settings.keys },
    store: { file: settings.storeFile ?? defaultStore(env) },
    ...(settings.routes && { routes: settings.routes }),
    ...(settings.budget && { budget: settings.budget }),
    ...(settings.credentials !== undefined && { credentials: settings.credentials }),
    limits: { ...DEFAULT_LIMITS, ...withoutUndefined(settings.limits ?? {}) },
    source,
    notices: [
      ...(settings.isEmpty ? [`The config ${source} says nothing, so providers come from the environment.`] : []),
      ...(fromEnvironment?.notices ?? []),
    ],
  };
  if (!isLoopback(config.listen.host) && config.auth.keys.length === 0) {
    throw new ConfigError(
      `The address ${config.listen.host} can be reached from other machines, and auth.keys has no key. ` +
        'Add the SHA-256 of a key under auth.keys in the config, or listen on 127.0.0.1.',
    );
  }
  return config;
}

/** Whether a listen address is reached from this machine alone. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function defaultStore(env: Environment): string {
  const folder = env['XDG_DATA_HOME'] || expandHome('~/.local/share', env);
  return join(folder, 'tandem', 'tandem.db');
}

function withoutUndefined<T extends object>(value: T): { [key in keyof T]: NonNullable<T[key]> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as never;
}
