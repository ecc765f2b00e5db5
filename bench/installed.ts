import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How the command is started: what Node is given before its arguments. */
export type Form = { readonly name: 'installed' | 'from source'; readonly start: readonly string[] };

const repository = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = ['protocol', 'server', 'client', 'cli'];

/** A clone as it is: its source, whose types every first start strips. */
export const fromSource: Form = {
  name: 'from source',
  start: ['--conditions=tandem-source', join(repository, 'packages/cli/bin/tandem.js')],
};

let installed: Form | undefined;

/**
 * The command as people install it: what `npm pack` makes, unpacked into a folder of its own below `node_modules`, where it finds the
 * dependencies of this repository. Made once a process and removed at its end.
 */
export function installPacked(): Form {
  if (installed) return installed;
  const place = join(repository, 'node_modules', '.cache');
  mkdirSync(place, { recursive: true });
  const folder = mkdtempSync(join(place, 'tandem-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const name of PACKAGES) {
    const source = join(repository, 'packages', name);
    rmSync(join(source, 'dist'), { recursive: true, force: true });
    const to = join(folder, name);
    mkdirSync(to);
    execFileSync('npm', ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', to], { cwd: source });
    const tarball = readdirSync(to).find(file => file.endsWith('.tgz'))!;
    const target = join(folder, 'node_modules', name === 'cli' ? 'tandem' : `@tandem/${name}`);
    mkdirSync(target, { recursive: true });
    execFileSync('tar', ['-xzf', join(to, tarball), '--strip-components=1', '-C', target]);
  }
  installed = { name: 'installed', start: [join(folder, 'node_modules/tandem/bin/tandem.js')] };
  return installed;
}
