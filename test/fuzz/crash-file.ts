import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Crash } from './campaign.ts';

/** Where inputs that once broke something are kept, a file each, so that they are tried for ever after. */
const CORPUS = fileURLToPath(new URL('./corpus/', import.meta.url));

/** Keeps a crash; the same inputs are kept once. @returns the name of its file */
export function saveCrash({ kind, inputs, what }: Crash, folder: string = CORPUS): string {
  const hex = inputs.map(input => Buffer.from(input).toString('hex'));
  const name = `${kind}-${createHash('sha256').update(hex.join('\n')).digest('hex').slice(0, 12)}.json`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, name),
    `${JSON.stringify({ kind, what: what.split('\n')[0], inputs: hex }, undefined, 2)}\n`,
  );
  return name;
}

/** Every crash that was kept, by the name of its file. */
export function readCrashes(folder: string = CORPUS): (Crash & { readonly name: string })[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .sort()
    .map(name => {
      const { kind, what, inputs } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
        kind: Crash['kind'];
        what: string;
        inputs: string[];
      };
      return { name, kind, what, inputs: inputs.map(hex => Buffer.from(hex, 'hex')) };
    });
}
