import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ReadResultSchema } from '@tandem/protocol/agent';
import type { ReadArgs, ReadResult, ReadSuccessSchema } from '@tandem/protocol/agent';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Executor } from '../executor.ts';
import type { Machine } from './machine.ts';
import { decodeText, imageType, isPdf } from './text-form.ts';
import { codeOf, messageOf } from './workspace.ts';

/** Longest text sent, in characters, and longest image, in bytes. What is cut is marked as truncated. */
const READ_CAP = 8 * 1024 * 1024;

/** Longest file that is read at all: beyond this its text would not fit into memory several times over. */
const FILE_CAP = 256 * 1024 * 1024;

/** Most that is read of a file that tells no size, or less than it has. */
const UNSIZED_CAP = 16 * 1024 * 1024;

/**
 * Reads a file: text as LF without byte order mark (R31), the text of a PDF, an image as bytes, other binary files not at all. Any path may be read; relative
 * ones start at the workspace. `total_lines` counts the pieces between line ends, so the empty one after a last line end too.
 */
export function readExecutor(machine: Machine): Executor<'readArgs'> {
  return {
    kind: 'readArgs',
    ...(machine.permission.waitsForHuman ? { deadlineMs: null } : {}),
    async run(args, { signal }) {
      return { case: 'readResult', value: await readFile(machine, args, signal) };
    },
  };
}

/** Reads a file for this exec, or on behalf of another. Never rejects but for an abort. */
export async function readFile(machine: Machine, args: ReadArgs, signal: AbortSignal): Promise<ReadResult> {
  const path = machine.workspace.resolve(args.path);
  try {
    const verdict = await machine.permission.read({
      path: await machine.workspace.real(path),
      named: path,
      signal,
    });
    if (!verdict.allowed)
      return create(ReadResultSchema, { result: { case: 'rejected', value: { path, reason: verdict.reason } } });
    const file = await openFile(path);
    if (typeof file === 'string') return refuse(path, file);
    const image = imageType(file.bytes);
    if (image !== undefined) {
      if (file.bytes.length > READ_CAP)
        return refuse(path, `The ${image} is ${file.bytes.length} bytes long, more than ${READ_CAP}`);
      return success({ path, fileSize: BigInt(file.bytes.length), output: { case: 'data', value: file.bytes } });
    }
    const decoded = isPdf(file.bytes) ? await readPdf(file.bytes, signal) : decodeText(file.bytes);
    if (decoded === undefined) return refuse(path, `Binary files${ofType(path)} cannot be read as text`);
    if ('refused' in decoded) return refuse(path, decoded.refused);
    const pieces = decoded.text.split('\n');
    const range = chooseRange(pieces, args);
    const content = range === undefined ? decoded.text : pieces.slice(range.from, range.to).join('\n');
    return success({
      path,
      totalLines: pieces.length,
      fileSize: BigInt(file.bytes.length),
      output: { case: 'content', value: cutText(content, READ_CAP) },
      truncated: content.length > READ_CAP || ('whole' in decoded && !decoded.whole),
      rangeApplied: range !== undefined,
    });
  } catch (error) {
    return failed(path, error);
  }
}

async function readPdf(bytes: Uint8Array, signal: AbortSignal) {
  // Loaded with the first PDF: most runs read none.
  const { readPdfText } = await import('./pdf-text.ts');
  return await readPdfText(bytes, { length: READ_CAP, signal });
}

/** The whole file, or why it is none that can be read. Devices and pipes are never opened for reading: they might not end. */
async function openFile(path: string): Promise<{ bytes: Buffer } | string> {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would hang.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) return 'Path is a directory, not a file';
    if (!stat.isFile()) return 'Path is a device or pipe, not a file';
    if (stat.size > FILE_CAP)
      return `The file is ${stat.size} bytes long, more than ${FILE_CAP}; read parts of it with a shell command`;
    // Files of the system have a size of 0 and may never end; others grow while they are read.
    const cap = Math.max(stat.size, UNSIZED_CAP);
    const bytes = await readUpTo(handle, cap, stat.size);
    return bytes === undefined
      ? `The file gives more than the ${cap} bytes that it may have; it may never end`
      : { bytes };
  } finally {
    await handle.close();
  }
}

/** All that a file gives; undefined when that is more than `cap` bytes. */
async function readUpTo(handle: FileHandle, cap: number, expected: number): Promise<Buffer | undefined> {
  let bytes = Buffer.allocUnsafe(Math.max(expected + 1, 64 * 1024));
  for (let length = 0; ;) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, null);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
    if (length > cap) return undefined;
    if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(length)]);
  }
}

/** The pieces that offset and limit ask for; undefined for all. An offset beyond the end gives the whole file. */
function chooseRange(pieces: readonly string[], args: ReadArgs): { from: number; to: number } | undefined {
  const offset = args.offset ?? 0;
  const limit = args.limit ?? 0;
  if (offset === 0 && limit === 0) return undefined;
  // The empty piece after a last line end is no line that somebody means by "the last two".
  const lines = pieces.at(-1) === '' ? pieces.length - 1 : pieces.length;
  const from = offset < 0 ? Math.max(0, lines + offset) : Math.max(0, offset - 1);
  if (from >= pieces.length) return undefined;
  return { from, to: limit === 0 ? pieces.length : Math.min(pieces.length, from + limit) };
}

/** The first `length` characters, without half a surrogate pair at the end. */
function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

function ofType(path: string): string {
  return extname(path) === '' ? '' : ` of type ${extname(path)}`;
}

function success(value: MessageInitShape<typeof ReadSuccessSchema>): ReadResult {
  return create(ReadResultSchema, { result: { case: 'success', value } });
}

function refuse(path: string, reason: string): ReadResult {
  return create(ReadResultSchema, { result: { case: 'invalidFile', value: { path, reason } } });
}

function failed(path: string, error: unknown): ReadResult {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return create(ReadResultSchema, { result: { case: 'fileNotFound', value: { path } } });
    case 'EACCES':
    case 'EPERM':
      return create(ReadResultSchema, { result: { case: 'permissionDenied', value: { path } } });
    case 'ENXIO':
      return refuse(path, 'Path is a device or pipe, not a file');
    default:
      return create(ReadResultSchema, { result: { case: 'error', value: { path, error: messageOf(error) } } });
  }
}
