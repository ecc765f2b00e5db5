import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { ConfigError } from './config-error.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const NAMES = ['tandem.yaml', 'tandem.yml', 'tandem.json'];

/** A config file that was found, not yet read as anything. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Finds the config file: the one asked for, else one in the working folder, else one in the user's config folder.
 * Undefined when nothing was asked for and none is there.
 * @throws ConfigError when the one asked for cannot be read, or a folder has two.
 */
export async function findConfigFile(place: {
  path?: string | undefined;
  cwd: string;
  env: Environment;
}): Promise<ConfigFile | undefined> {
  if (place.path !== undefined) {
    const path = resolve(place.cwd, expandHome(place.path, place.env));
    try {
      return { path, text: await readFile(path, 'utf8') };
    } catch (error) {
      throw new ConfigError(`The config file ${path} cannot be read: ${reasonOf(error)}.`, { cause: error });
    }
  }
  for (const folder of [place.cwd, userConfigFolder(place.env)]) {
    const found = (await Promise.all(NAMES.map(name => readIfThere(join(folder, name))))).filter(
      file => file !== undefined,
    );
    if (found.length > 1) {
      throw new ConfigError(`There are two config files: ${found.map(file => file.path).join(' and ')}. Keep one.`);
    }
    if (found[0]) return found[0];
  }
  return undefined;
}

/** `~` and `~/…` with the home folder in its place. */
export function expandHome(path: string, env: Environment): string {
  return path === '~' || path.startsWith('~/') ? join(homeFolder(env), path.slice(1)) : path;
}

/** Where a person's own config lives. */
function userConfigFolder(env: Environment): string {
  return join(env['XDG_CONFIG_HOME'] || join(homeFolder(env), '.config'), 'tandem');
}

function homeFolder(env: Environment): string {
  return env['HOME'] || homedir();
}

async function readIfThere(path: string): Promise<ConfigFile | undefined> {
  try {
    return { path, text: await readFile(path, 'utf8') };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined;
    throw new ConfigError(`The config file ${path} cannot be read: ${reasonOf(error)}.`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'permission denied';
  if (code === 'EISDIR') return 'it is a folder';
  return message;
}
