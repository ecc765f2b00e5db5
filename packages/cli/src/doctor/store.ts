import { accessSync, constants, statSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { openStore, stateFolder } from '@tandem/client/node';
import type { Config } from '@tandem/server';
import type { Finding } from './finding.ts';

/** Less than this left on the disk is worth a word: a long conversation takes some megabytes. */
const ROOM_BYTES = 200 * 1024 * 1024;

/** Whether the server's store and the conversations of this user can be written. */
export async function examineStores(config: Config | undefined): Promise<Finding[]> {
  return [...(config ? [examineServerStore(config.store.file)] : []), await examineConversations()];
}

function examineServerStore(file: string): Finding {
  const about = 'store';
  if (file === ':memory:') {
    return {
      about,
      state: 'warning',
      says: 'in memory: a restart forgets runs at work',
      mend: 'Name a file under store.url in the config.',
    };
  }
  const place = nearestExisting(file);
  try {
    accessSync(place, constants.W_OK);
    const isFolder = statSync(place).isDirectory();
    if (isFolder === (place === file)) throw Object.assign(new Error(place), { code: isFolder ? 'EISDIR' : 'ENOTDIR' });
    if (!isFolder) accessSync(dirname(place), constants.W_OK); // the write-ahead log lies beside it
  } catch (error) {
    return {
      about,
      state: 'broken',
      says: `${file} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'} at ${place})`,
      mend: 'Make it writable, or name another file under store.url in the config.',
    };
  }
  const { bavail, bsize } = statfsSync(place);
  if (bavail * bsize < ROOM_BYTES) {
    return {
      about,
      state: 'warning',
      says: `${file}: only ${Math.round((bavail * bsize) / 1024 / 1024)} MiB are left on its disk`,
      mend: 'Make room, or name a file on another disk under store.url.',
    };
  }
  if (isOpenToOthers(file)) {
    return {
      about,
      state: 'warning',
      says: `${file} can be read by other users of this machine, and holds the secret that signs tokens`,
      mend: `chmod 600 ${file}*`,
    };
  }
  return { about, state: 'ok', says: file };
}

/** Whether group or world may read the file, and may look into its folder. */
function isOpenToOthers(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found || process.platform === 'win32') return false;
  const folder = statSync(dirname(file));
  return [0o040, 0o004].some(read => (found.mode & read) !== 0 && (folder.mode & (read >> 2)) !== 0);
}

async function examineConversations(): Promise<Finding> {
  const about = 'conversations';
  const store = openStore();
  try {
    await store.list({ limit: 1 });
    return { about, state: 'ok', says: stateFolder() };
  } catch (error) {
    return {
      about,
      state: 'broken',
      says: `${stateFolder()} cannot be opened (${(error as Error).message})`,
      mend: 'Make the folder writable, or set XDG_STATE_HOME to another one.',
    };
  } finally {
    store.close();
  }
}

function nearestExisting(file: string): string {
  for (let at = file; ; at = dirname(at)) {
    if (statSync(at, { throwIfNoEntry: false }) || dirname(at) === at) return at;
  }
}
