import { create } from '@bufbuild/protobuf';
import { LsDirectoryTreeNodeSchema, LsDirectoryTreeNode_FileSchema, LsResultSchema } from '@tandem/protocol/agent';
import type { LsArgs, LsDirectoryTreeNode, LsResult } from '@tandem/protocol/agent';
import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Executor } from '../executor.ts';
import { hiddenBelow } from './hidden-files.ts';
import type { Machine } from './machine.ts';
import { SEARCH_FLAGS, WITHOUT_GIT, runRipgrep, withoutGlobs } from './ripgrep.ts';
import { codeOf, messageOf } from './workspace.ts';

/** Files looked at; a tree beyond this is listed as far as it was seen. */
const FILES_SEEN = 200_000;

/** Entries named one by one, from the top down; folders beyond are counted by extension instead. */
const ENTRIES_CAP = 3_000;

/** The time when the server names none. */
const DEADLINE = 15_000;

/** Lists a folder as a tree, without what is ignored by git or by the question, and without `.git`. Other hidden files are listed. */
export function lsExecutor(machine: Machine): Executor<'lsArgs'> {
  return {
    kind: 'lsArgs',
    async run(args, { signal }) {
      return { case: 'lsResult', value: await list(machine, args, signal) };
    },
  };
}

async function list(machine: Machine, args: LsArgs, signal: AbortSignal): Promise<LsResult> {
  const path = machine.workspace.resolve(args.path);
  try {
    if (!(await stat(path)).isDirectory()) throw new Error(`${path} is not a directory`);
    const directoryTreeRoot = await listTree(path, {
      ignore: args.ignore,
      isHidden: await hiddenBelow(machine, path),
      signal,
      deadlineMs: args.timeoutMs ?? DEADLINE,
    });
    return create(LsResultSchema, { result: { case: 'success', value: { directoryTreeRoot } } });
  } catch (error) {
    const words = codeOf(error) === 'ENOENT' ? `path does not exist: ${path}` : messageOf(error);
    return create(LsResultSchema, { result: { case: 'error', value: { path, error: words } } });
  }
}

interface Folder {
  path: string;
  folders: Map<string, Folder>;
  files: string[];
}

/** The tree below a folder; ripgrep finds the files, since it knows the ignore rules. What `isHidden` tells of, relative to it, is left out. */
export async function listTree(
  path: string,
  options: {
    ignore: readonly string[];
    isHidden: ((way: string) => boolean) | undefined;
    signal: AbortSignal;
    deadlineMs: number;
    entries?: number;
  },
): Promise<LsDirectoryTreeNode> {
  const root: Folder = { path, folders: new Map(), files: [] };
  let seen = 0;
  const end = await runRipgrep({
    args: ['--files', '--null', ...SEARCH_FLAGS, ...withoutGlobs(options.ignore), ...WITHOUT_GIT],
    cwd: path,
    separator: '\0',
    signal: options.signal,
    deadlineMs: options.deadlineMs,
    onRecord(record) {
      if (options.isHidden?.(record) === true) return true;
      addFile(root, record.split('/'));
      return ++seen < FILES_SEEN;
    },
  });
  if (seen === 0 && end.code === 2) throw new Error(end.complaints.trim() || 'the folder cannot be listed');
  await addEmptyFolders(root, name => options.ignore.includes(name) || options.isHidden?.(name) === true);
  return nameEntries(root, options.entries ?? ENTRIES_CAP);
}

function addFile(root: Folder, parts: string[]): void {
  const file = parts.pop();
  let at = root;
  for (const part of parts) {
    let next = at.folders.get(part);
    if (next === undefined) at.folders.set(part, (next = { path: join(at.path, part), folders: new Map(), files: [] }));
    at = next;
  }
  if (file !== undefined) at.files.push(file);
}

/** Folders without any file are unknown to ripgrep. Those directly below the listed folder are added. */
async function addEmptyFolders(root: Folder, isLeftOut: (name: string) => boolean): Promise<void> {
  for (const entry of await readdir(root.path, { withFileTypes: true })) {
    if (!entry.isDirectory() || root.folders.has(entry.name) || entry.name === '.git' || isLeftOut(entry.name))
      continue;
    const inside = await readdir(join(root.path, entry.name)).catch(() => ['unreadable']); // not empty, as far as we know
    if (inside.length === 0)
      root.folders.set(entry.name, { path: join(root.path, entry.name), folders: new Map(), files: [] });
  }
}

/** Names entries level by level until there are enough, so a wide folder does not hide its neighbours. */
function nameEntries(root: Folder, cap: number): LsDirectoryTreeNode {
  const rootNode = create(LsDirectoryTreeNodeSchema, { absPath: root.path });
  let level: [Folder, LsDirectoryTreeNode][] = [[root, rootNode]];
  let left = cap;
  while (level.length > 0) {
    const below: [Folder, LsDirectoryTreeNode][] = [];
    for (const [folder, node] of level) {
      const counts = countFiles(folder);
      node.numFiles = counts.files;
      node.fullSubtreeExtensionCounts = counts.extensions;
      const size = folder.files.length + folder.folders.size;
      if (size > left && folder !== root) continue;
      left -= size;
      node.childrenWereProcessed = true;
      node.childrenFiles = folder.files
        .sort()
        .slice(0, cap)
        .map(name => create(LsDirectoryTreeNode_FileSchema, { name }));
      for (const name of [...folder.folders.keys()].sort().slice(0, cap)) {
        const child = folder.folders.get(name)!;
        const childNode = create(LsDirectoryTreeNodeSchema, { absPath: child.path });
        node.childrenDirs.push(childNode);
        below.push([child, childNode]);
      }
    }
    level = below;
  }
  return rootNode;
}

function countFiles(folder: Folder): { files: number; extensions: Record<string, number> } {
  const extensions: Record<string, number> = {};
  let files = 0;
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    files += at.files.length;
    for (const name of at.files) {
      const extension = extname(name);
      if (extension !== '') extensions[extension] = (extensions[extension] ?? 0) + 1;
    }
    waiting.push(...at.folders.values());
  }
  return { files, extensions };
}
