import { create } from '@bufbuild/protobuf';
import { WriteResultSchema } from '@tandem/protocol/agent';
import type { WriteArgs, WriteResult } from '@tandem/protocol/agent';
import { randomUUID } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Executor } from '../executor.ts';
import type { Machine } from './machine.ts';
import { PLAIN_FORM, decodeText, encodeText } from './text-form.ts';
import { codeOf, isMissing, messageOf } from './workspace.ts';

/**
 * Writes a whole file. `file_text` is LF text; what the file on disk had of line ends, byte order mark, encoding and mode stays, and a link
 * stays a link to the written file. `file_bytes` are written as they are. The new content appears at once or not at all.
 */
export function writeExecutor(machine: Machine): Executor<'writeArgs'> {
  return {
    kind: 'writeArgs',
    ...(machine.permission.waitsForHuman ? { deadlineMs: null } : {}),
    async run(args, { signal }) {
      return { case: 'writeResult', value: await writeWhole(machine, args, signal) };
    },
  };
}

async function writeWhole(machine: Machine, args: WriteArgs, signal: AbortSignal): Promise<WriteResult> {
  const { workspace, permission } = machine;
  const path = workspace.resolve(args.path);
  try {
    // Decided on and written is the real path: a link that changes its target in between changes nothing.
    const real = await workspace.real(path);
    const verdict = await permission.change({ kind: 'write', path: real, inside: workspace.contains(real), signal });
    if (!verdict.allowed) {
      if (!verdict.readOnly)
        return create(WriteResultSchema, { result: { case: 'rejected', value: { path, reason: verdict.reason } } });
      return denied(path, verdict.reason, true);
    }
    const before = await existing(real);
    const bytes = args.fileBytes.length > 0 ? args.fileBytes : encodeText(args.fileText, await formOf(real, before));
    await mkdir(dirname(real), { recursive: true });
    await tellChange(machine, real, before, bytes);
    await replaceFile(real, bytes, before);
    return create(WriteResultSchema, {
      result: {
        case: 'success',
        value: {
          path,
          linesCreated: args.fileBytes.length > 0 ? 0 : countLines(args.fileText),
          fileSize: bytes.length,
          ...(args.returnFileContentAfterWrite ? { fileContentAfterWrite: decodeText(bytes)?.text ?? '' } : {}),
        },
      },
    });
  } catch (error) {
    return failed(path, error);
  }
}

async function existing(path: string): Promise<Stats | undefined> {
  let stats: Stats;
  try {
    stats = await lstat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  if (stats.isDirectory()) throw new Error(`EISDIR: ${path} is a directory`);
  if (!stats.isFile()) throw new Error(`${path} is a device or pipe, not a file`);
  return stats;
}

async function formOf(path: string, before: Stats | undefined) {
  if (before === undefined || before.size === 0) return PLAIN_FORM;
  return decodeText(await readFile(path))?.form ?? PLAIN_FORM;
}

/** Beside the file and then in its place. A file with several names, or in a folder that takes no new ones, is written where it is. */
async function replaceFile(path: string, bytes: Uint8Array, before: Stats | undefined): Promise<void> {
  if (before !== undefined && before.nlink > 1) return await writeFile(path, bytes);
  // A file that its owner made read-only is refused, as any editor would.
  if (before !== undefined && (before.mode & 0o222) === 0) {
    throw Object.assign(new Error(`${path} is write-protected`), { code: 'EACCES' });
  }
  const temporary = join(dirname(path), `.tandem-${randomUUID()}.tmp`);
  try {
    await writeFile(temporary, bytes, { flag: 'wx', ...(before === undefined ? {} : { mode: before.mode & 0o7777 }) });
    if (before !== undefined) await keepOwner(temporary, before);
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined); // it may never have been made
    if (before !== undefined && ['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error)))
      return await writeFile(path, bytes);
    throw error;
  }
}

async function keepOwner(path: string, before: Stats): Promise<void> {
  // Only another owner's file needs it, and only root may; the mode comes last, since chown clears bits of it.
  if (before.uid !== process.getuid?.()) await chown(path, before.uid, before.gid).catch(() => undefined);
  await chmod(path, before.mode & 0o7777);
}

function countLines(text: string): number {
  if (text === '') return 0;
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

function denied(path: string, error: string, isReadonly: boolean): WriteResult {
  const value = { path, directory: dirname(path), operation: 'write', error, isReadonly };
  return create(WriteResultSchema, { result: { case: 'permissionDenied', value } });
}

function failed(path: string, error: unknown): WriteResult {
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return create(WriteResultSchema, { result: { case: 'noSpace', value: { path } } });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return denied(path, messageOf(error), false);
    default:
      return create(WriteResultSchema, { result: { case: 'error', value: { path, error: messageOf(error) } } });
  }
}

/**
 * Writes a file on behalf of another exec, under the same leave and with the same care as a write of its own: text in the form that the file
 * on disk has, bytes as they are. Rejects with the errors of the disk.
 */
export async function writeFileFor(
  machine: Machine,
  file: { path: string; signal: AbortSignal } & ({ bytes: Uint8Array } | { text: string }),
): Promise<{ path: string } | { refused: string; readOnly: boolean }> {
  const { workspace, permission } = machine;
  const path = workspace.resolve(file.path);
  const real = await workspace.real(path);
  const inside = workspace.contains(real);
  const verdict = await permission.change({ kind: 'write', path: real, inside, signal: file.signal });
  if (!verdict.allowed) return { refused: verdict.reason, readOnly: verdict.readOnly };
  const stats = await existing(real);
  const bytes = 'bytes' in file ? file.bytes : encodeText(file.text, await formOf(real, stats));
  await mkdir(dirname(real), { recursive: true });
  await tellChange(machine, real, stats, bytes);
  await replaceFile(real, bytes, stats);
  return { path };
}

/** Tells of a change that is about to be made. What the listener makes of it is its own affair; the change goes on. */
export async function tellChange(
  machine: Machine,
  path: string,
  before: Stats | undefined,
  after: Uint8Array | undefined,
): Promise<void> {
  if (machine.onFileChange === undefined) return;
  try {
    await machine.onFileChange({
      path,
      ...(before === undefined ? {} : { before: await readFile(path), mode: before.mode & 0o7777 }),
      ...(after === undefined ? {} : { after }),
    });
  } catch {
    // A copy that cannot be kept costs an undo, not the work.
  }
}
