import type { LsDirectoryTreeNode } from '@tandem/protocol/agent';
import { cutLine, excerptOf } from './excerpt.ts';
import { LS_ENTRIES, RESULT_CHARACTERS } from './limits.ts';

/** The last part of a path, on either kind of system. */
const baseName = (path: string) => path.split(/[\\/]/).findLast(part => part !== '') ?? path;

/**
 * A directory tree as indented text: the folder's own path, then folders (with a slash) and files, two spaces a level. Nearer
 * entries win when there are more than LS_ENTRIES; how many are missing is said where they are missing.
 */
export function directoryText(root: LsDirectoryTreeNode): string {
  const opened = chooseOpened(root);
  const lines = [root.absPath];
  print(root, 1, opened, lines);
  if (lines.length === 1) lines.push('(empty)');
  return excerptOf(lines.join('\n'), RESULT_CHARACTERS);
}

/** Which folders are shown with their children: breadth first, while there is room. */
function chooseOpened(root: LsDirectoryTreeNode): Set<LsDirectoryTreeNode> {
  const opened = new Set<LsDirectoryTreeNode>([root]);
  let room = LS_ENTRIES - entriesOf(root);
  const queue = [...root.childrenDirs];
  for (let at = 0; at < queue.length; at += 1) {
    const folder = queue[at]!;
    const count = entriesOf(folder);
    if (count > room) continue;
    room -= count;
    opened.add(folder);
    queue.push(...folder.childrenDirs);
  }
  return opened;
}

const entriesOf = (folder: LsDirectoryTreeNode) => folder.childrenDirs.length + folder.childrenFiles.length;

function print(folder: LsDirectoryTreeNode, level: number, opened: Set<LsDirectoryTreeNode>, lines: string[]): void {
  const indent = '  '.repeat(level);
  let left = LS_ENTRIES;
  for (const child of folder.childrenDirs.slice(0, left)) {
    const whole = opened.has(child) && (child.childrenWereProcessed || entriesOf(child) > 0);
    lines.push(`${indent}${cutLine(baseName(child.absPath), 300)}/${whole ? '' : summaryOf(child)}`);
    if (opened.has(child)) print(child, level + 1, opened, lines);
  }
  left -= Math.min(folder.childrenDirs.length, left);
  for (const file of folder.childrenFiles.slice(0, left)) lines.push(`${indent}${cutLine(file.name, 300)}`);
  const missing = entriesOf(folder) - LS_ENTRIES;
  if (missing > 0) lines.push(`${indent}… ${missing} more entries`);
}

/** What is known of a folder that is not opened. */
function summaryOf(folder: LsDirectoryTreeNode): string {
  const files = Math.max(folder.numFiles, folder.childrenFiles.length);
  return files > 0 ? ` (${files} file${files === 1 ? '' : 's'}, not listed)` : '';
}
