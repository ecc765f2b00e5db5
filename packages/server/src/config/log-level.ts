import { LOG_LEVELS } from '../observe/log.ts';
import type { LogLevel } from '../observe/log.ts';
import { ConfigError } from './config-error.ts';
import type { Environment } from './file.ts';

/**
 * The level that `LOG_LEVEL` names; `info` when it is unset or empty.
 * @throws ConfigError when there is no such level
 */
export function logLevelOf(env: Environment): LogLevel {
  const name = env['LOG_LEVEL']?.trim().toLowerCase();
  if (!name) return 'info';
  const found = LOG_LEVELS.find(level => level === name);
  if (found) return found;
  throw new ConfigError(
    `The environment variable LOG_LEVEL is ${JSON.stringify(name.slice(0, 40))}; expected one of ${LOG_LEVELS.join(', ')}.`,
  );
}
