import { closeSync, existsSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrations } from './schema.ts';

/** What SQLite says of a database that is cut or overwritten; a file that never was one gets another code and stays where it is. */
const SQLITE_CORRUPT = 11;
/** The database and what SQLite keeps beside it. */
const SUFFIXES = ['', '-wal', '-shm'];

/**
 * Opens the database and brings its tables up to date. One that is broken, half written by a full disk or a copy that was cut, is
 * set aside and a new one begun: the store holds a cache and a ledger, and no start may hang on it (F103).
 */
export function openDatabase(
  file: string,
  options: { now: () => number; onSetAside?: ((path: string) => void) | undefined },
): DatabaseSync {
  if (file === ':memory:') return openReady(file);
  makeFolder(dirname(file));
  try {
    return openReady(file);
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_CORRUPT) throw error;
  }
  const aside = `${file}.broken-${options.now()}`;
  for (const suffix of SUFFIXES) if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
  const database = openReady(file);
  options.onSetAside?.(aside);
  return database;
}

function openReady(file: string): DatabaseSync {
  // its files hold a signing secret and what people wrote; SQLite gives those beside it the mode of this one
  if (file !== ':memory:' && !existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;');
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Makes a folder and those above it. Node's own recursion never comes back where a parent exists and takes no folders (`/proc`). */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  mkdirSync(path, { mode: 0o700 });
}

function migrate(database: DatabaseSync): void {
  const { user_version: taken } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (taken > migrations.length) {
    throw new Error(
      `the store was written by a newer version (schema ${taken}, this one knows ${migrations.length}): use that version or another file`,
    );
  }
  migrations.slice(taken).forEach((step, index) => {
    database.exec(`BEGIN; ${step} PRAGMA user_version = ${taken + index + 1}; COMMIT;`);
  });
}
