import { create } from '@bufbuild/protobuf';
import { DeleteResultSchema } from '@tandem/protocol/agent';
import type { DeleteArgs, DeleteResult } from '@tandem/protocol/agent';
import { readFile, stat, unlink } from 'node:fs/promises';
import type { Executor } from '../executor.ts';
import type { Machine } from './machine.ts';
import { decodeText } from './text-form.ts';
import { codeOf, entryKind, messageOf, realEntry } from './workspace.ts';
import { tellChange } from './write.ts';

/** Longest content given back with the result; a longer file is deleted without. */
const CONTENT_CAP = 1024 * 1024;

/** Deletes one file. Of a link the link goes, not what it points to; a directory is refused. */
export function deleteExecutor(machine: Machine): Executor<'deleteArgs'> {
  return {
    kind: 'deleteArgs',
    ...(machine.permission.waitsForHuman ? { deadlineMs: null } : {}),
    async run(args, { signal }) {
      return { case: 'deleteResult', value: await deleteFile(machine, args, signal) };
    },
  };
}

async function deleteFile(machine: Machine, args: DeleteArgs, signal: AbortSignal): Promise<DeleteResult> {
  const { workspace, permission } = machine;
  const path = workspace.resolve(args.path);
  try {
    const real = await realEntry(workspace, path);
    const verdict = await permission.change({
      kind: 'delete',
      path: real,
      named: path,
      inside: workspace.contains(real),
      signal,
    });
    if (!verdict.allowed) {
      const { reason } = verdict;
      if (!verdict.readOnly)
        return create(DeleteResultSchema, { result: { case: 'rejected', value: { path, reason } } });
      const value = { path, clientVisibleError: reason, isReadonly: true };
      return create(DeleteResultSchema, { result: { case: 'permissionDenied', value } });
    }
    const kind = await entryKind(real);
    if (kind === undefined) return create(DeleteResultSchema, { result: { case: 'fileNotFound', value: { path } } });
    if (kind !== 'file' && kind !== 'link') {
      return create(DeleteResultSchema, { result: { case: 'notFile', value: { path, actualType: kind } } });
    }
    const before = kind === 'file' ? await contentOf(machine, real) : { size: 0, text: '' };
    if (kind === 'file') await tellChange(machine, real, await stat(real), undefined);
    await unlink(real);
    const value = { path, deletedFile: path, fileSize: BigInt(before.size), prevContent: before.text };
    return create(DeleteResultSchema, { result: { case: 'success', value } });
  } catch (error) {
    return failed(path, error);
  }
}

/** What is deleted; no text of a file that a rule hides. */
async function contentOf(machine: Machine, path: string): Promise<{ size: number; text: string }> {
  const { size } = await stat(path);
  if (size > CONTENT_CAP || machine.permission.hides?.(path) !== undefined) return { size, text: '' };
  // A file that cannot be read can still be deleted; its content is only a courtesy.
  const bytes = await readFile(path).catch(() => undefined);
  return { size, text: bytes === undefined ? '' : (decodeText(bytes)?.text ?? '') };
}

function failed(path: string, error: unknown): DeleteResult {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return create(DeleteResultSchema, { result: { case: 'fileNotFound', value: { path } } });
    case 'EBUSY':
      return create(DeleteResultSchema, { result: { case: 'fileBusy', value: { path } } });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS': {
      const value = { path, clientVisibleError: messageOf(error), isReadonly: false };
      return create(DeleteResultSchema, { result: { case: 'permissionDenied', value } });
    }
    default:
      return create(DeleteResultSchema, { result: { case: 'error', value: { path, error: messageOf(error) } } });
  }
}
