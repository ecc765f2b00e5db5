import { statSync } from 'node:fs';

/** Why nothing can be run in this folder, for a person; undefined when it can. */
export function folderProblem(folder: string): string | undefined {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found) return `There is no folder ${folder}. Give one that exists with --cwd.`;
  return found.isDirectory() ? undefined : `${folder} is a file. Give a folder with --cwd.`;
}
