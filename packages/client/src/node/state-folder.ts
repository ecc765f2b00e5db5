import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';

/** Where this user's state is kept: `$XDG_STATE_HOME/tandem`, else `~/.local/state/tandem`. */
export function stateFolder(): string {
  const base = process.env['XDG_STATE_HOME'];
  return join(base !== undefined && isAbsolute(base) ? base : join(homedir(), '.local', 'state'), 'tandem');
}

/** The folder for the terminal files of one workspace; its name tells a human which, and is different for each. */
export function terminalsFolder(workspace: string): string {
  const name = basename(workspace)
    .replace(/[^\w.-]+/g, '-')
    .slice(0, 40);
  const hash = createHash('sha256').update(workspace).digest('hex').slice(0, 12);
  return join(stateFolder(), 'terminals', `${name}-${hash}`);
}
