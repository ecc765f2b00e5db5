import { randomUUID } from 'node:crypto';
import { chmod, chown, open, readFile, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from './workspace.ts';

/**
 * Gives a file of the workspace new content, at once or not at all: it is written beside the file and then put in its place. A file with several names,
 * or in a folder that takes no new ones, is written where it is, and gets its former content back when that fails. Rejects with the errors of the
 * disk.
 *
 * @param before what is there now; undefined for a new file
 */
export async function replaceFile(path: string, bytes: Uint8Array, before: Stats | undefined): Promise<void> {
  if (before !== undefined && before.nlink > 1) return await writeInPlace(path, bytes);
  // A file that its owner made read-only is refused, as any editor would.
  if (before !== undefined && (before.mode & 0o222) === 0) {
    throw Object.assign(new Error(`${path} is write-protected`), { code: 'EACCES' });
  }
  try {
    await writeBeside(path, bytes, before === undefined ? undefined : before.mode & 0o7777, async temporary => {
      if (before !== undefined) await keepOwner(temporary, before);
    });
  } catch (error) {
    if (before === undefined || !['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error))) throw error;
    await writeInPlace(path, bytes);
  }
}

/**
 * Writes a file beside `path`, onto the disk, and then puts it there. `finish` may do something to it in between. Nothing stays of it when
 * something fails.
 */
export async function writeBeside(
  path: string,
  bytes: Uint8Array,
  mode: number | undefined,
  finish: (temporary: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const temporary = join(dirname(path), `.tandem-${randomUUID()}.tmp`);
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await finish(temporary);
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined); // it may never have been made
    throw error;
  }
}

async function writeInPlace(path: string, bytes: Uint8Array): Promise<void> {
  const former = await readFile(path);
  const file = await open(path, 'r+');
  try {
    await overwrite(file, bytes);
  } catch (error) {
    // The place that it took before is still its own, also on a full disk.
    await overwrite(file, former);
    throw error;
  } finally {
    await file.close();
  }
}

async function overwrite(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at, bytes.length - at, at)).bytesWritten;
  await file.truncate(bytes.length);
  await file.sync();
}

async function keepOwner(path: string, before: Stats): Promise<void> {
  // Only another owner's file needs it, and only root may; the mode comes last, since chown clears bits of it.
  if (before.uid !== process.getuid?.()) await chown(path, before.uid, before.gid).catch(() => undefined);
  await chmod(path, before.mode & 0o7777);
}
