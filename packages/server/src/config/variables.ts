import type { Environment } from './file.ts';
import type { Problem } from './problem.ts';

const VARIABLE = /\$\{([^}]*)\}/g;

/**
 * Puts the environment in the place of every `${NAME}` in the strings of a value; names that are unset or empty are
 * problems.
 */
export function expandVariables(
  value: unknown,
  env: Environment,
  problems: Problem[],
  path: PropertyKey[] = [],
): unknown {
  if (typeof value === 'string') {
    return value.replace(VARIABLE, (whole, name: string) => {
      const found = env[name];
      if (found) return found;
      const says = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
        ? `the environment variable ${name} is ${found === '' ? 'empty' : 'not set'}`
        : `${whole} is no name of an environment variable`;
      problems.push({ path, says });
      return '';
    });
  }
  if (Array.isArray(value)) return value.map((item, at) => expandVariables(item, env, problems, [...path, at]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, expandVariables(item, env, problems, [...path, key])]),
  );
}
