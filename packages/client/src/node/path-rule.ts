import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, posix, sep } from 'node:path';
import { globPattern } from './glob.ts';

/** Characters that mean something in a glob. */
const SPECIAL = /[*?{}[\]\\]/;

/**
 * A path rule against absolute paths: `~` is the home folder, `..` leads up, and a pattern without a slash holds in every folder below the
 * workspace, as in gitignore. An `exact` one matches the paths that the glob names; another one also all that is below them, and what they
 * lead to when the pattern names a link. `root` is the workspace.
 */
export function pathMatcher(pattern: string, root: string, exact: boolean): (path: string) => boolean {
  const glob = absoluteGlob(pattern, root);
  if (exact) {
    const whole = globPattern(glob);
    return path => whole.test(slashed(path));
  }
  const patterns = [...new Set([glob, realGlob(glob)])].flatMap(each => {
    const place = each.replace(/(?!^)\/$/, '');
    return [globPattern(place), globPattern(place === '/' ? '/**' : `${place}/**`)];
  });
  return path => {
    const text = slashed(path);
    return patterns.some(each => each.test(text));
  };
}

function absoluteGlob(pattern: string, root: string): string {
  if (isAbsolute(pattern)) return posix.normalize(pattern);
  if (pattern === '~' || pattern.startsWith('~/'))
    return posix.normalize(escapeGlob(slashed(homedir())) + pattern.slice(1));
  const isName = !pattern.slice(0, -1).includes('/') && !/^\.\.?\/?$/.test(pattern);
  return posix.normalize(`${escapeGlob(slashed(root))}/${isName ? '**/' : ''}${pattern}`);
}

/** The glob with the links in its leading plain folders followed; the glob itself where they do not exist. */
function realGlob(glob: string): string {
  const parts = glob.split('/');
  const plain = parts.findIndex(part => SPECIAL.test(part));
  const length = plain < 0 ? parts.length : plain;
  for (let end = length; end > 1; end--) {
    try {
      const real = slashed(realpathSync(parts.slice(0, end).join('/')));
      return [escapeGlob(real === '/' ? '' : real), ...parts.slice(end)].join('/');
    } catch {
      // Not there: the folder above may be.
    }
  }
  return glob;
}

/** The path with the separators of a glob. */
function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}

function escapeGlob(text: string): string {
  return text.replace(new RegExp(SPECIAL, 'g'), '\\$&');
}
