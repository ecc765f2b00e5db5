import { join } from 'node:path';
import type { Machine } from './machine.ts';

/**
 * What the rules on reading hide below a path, for those who look at many files at once; undefined when there are no such rules. Takes a path
 * as it was found below `path`, relative to that; an empty one is `path` itself. Throws when `path` itself is hidden, with the rule.
 */
export async function hiddenBelow(machine: Machine, path: string): Promise<((way: string) => boolean) | undefined> {
  const { hides } = machine.permission;
  if (hides === undefined) return undefined;
  const real = await machine.workspace.real(path);
  const rule = hides(real) ?? hides(path);
  if (rule !== undefined) {
    throw new Error(
      rule.effect === 'deny'
        ? `the rule "${rule.text}" forbids it`
        : `the rule "${rule.text}" wants to be asked first, and a search asks nobody; read the file instead`,
    );
  }
  // Nothing follows links further down, so below a real folder every path is real.
  return way => hides(join(real, way)) !== undefined || (real !== path && hides(join(path, way)) !== undefined);
}
