import { create } from '@bufbuild/protobuf';
import { WriteResultSchema } from '@tandem/protocol/agent';
import type { WriteArgs, WriteResult } from '@tandem/protocol/agent';
import { lstat, mkdir, readFile } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import type { Executor } from '../executor.ts';
import type { Machine } from './machine.ts';
import { replaceFile } from './replace-file.ts';
import { PLAIN_FORM, decodeText, encodeText, isPdf } from './text-form.ts';
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
    const verdict = await permission.change({
      kind: 'write',
      path: real,
      named: path,
      inside: workspace.contains(real),
      contents: args.fileBytes.length > 0 ? undefined : args.fileText,
      signal,
    });
    if (!verdict.allowed) {
      if (!verdict.readOnly)
        return create(WriteResultSchema, { result: { case: 'rejected', value: { path, reason: verdict.reason } } });
      return denied(path, verdict.reason, true);
    }
    const before = await existing(real);
    const bytes = args.fileBytes.length > 0 ? args.fileBytes : await encodeFor(real, before, args.fileText);
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

/** Text as bytes in the form that the file has. What a read gives of a PDF is not the file: written back, it would destroy it. */
async function encodeFor(
  path: string,
  before: Stats | undefined,
  text: string,
  expected?: string,
): Promise<Uint8Array> {
  const former = before === undefined ? undefined : await readFile(path);
  const decoded = former === undefined ? undefined : decodeText(former);
  if (expected !== undefined && decoded?.text !== expected)
    throw new Error(`${path} has changed since it was read; read it again`);
  if (former !== undefined && isPdf(former) && !text.startsWith('%PDF-'))
    throw new Error(`${path} is a PDF, which text would destroy; delete it first if it is to be replaced`);
  return encodeText(text, former === undefined || former.length === 0 ? PLAIN_FORM : (decoded?.form ?? PLAIN_FORM));
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
 * on disk has, bytes as they are. Text is only written while the file still holds the `expected` one. Rejects with the errors of the disk.
 */
export async function writeFileFor(
  machine: Machine,
  file: { path: string; signal: AbortSignal } & ({ bytes: Uint8Array } | { text: string; expected?: string }),
): Promise<{ path: string } | { refused: string; readOnly: boolean }> {
  const { workspace, permission } = machine;
  const path = workspace.resolve(file.path);
  const real = await workspace.real(path);
  const inside = workspace.contains(real);
  const contents = 'text' in file ? file.text : undefined;
  const access = { kind: 'write' as const, path: real, named: path, inside, contents, signal: file.signal };
  const verdict = await permission.change(access);
  if (!verdict.allowed) return { refused: verdict.reason, readOnly: verdict.readOnly };
  const stats = await existing(real);
  const bytes = 'bytes' in file ? file.bytes : await encodeFor(real, stats, file.text, file.expected);
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
