import type { GrepSuccess, GrepUnionResult } from '@tandem/protocol/agent';
import { posix } from 'node:path';

type Result = Exclude<GrepUnionResult['result'], { case: undefined }>;

/** A search's answer per workspace folder; one that chose no branch found nothing. `root` is empty for the open editor. */
export function workspaceResults(found: GrepSuccess): { root: string; result: Result }[] {
  const all = Object.entries(found.workspaceResults).map(([root, { result }]) => ({ root, result }));
  if (found.activeEditorResult) all.push({ root: '', result: found.activeEditorResult.result });
  return all.filter((one): one is { root: string; result: Result } => one.result.case !== undefined);
}

/** Whether more was there than the client sent. */
export function isTruncated(results: readonly { result: Result }[]): boolean {
  return results.some(({ result }) => result.value.clientTruncated || result.value.ripgrepTruncated);
}

/** A file's name as the model reads it: without `./`, and with its workspace folder when there are several. */
export function fileName(file: string, root: string, several: boolean): string {
  const plain = file.replace(/^\.\//, '');
  if (!several || root === '' || plain.startsWith('/')) return plain;
  return posix.join(root, plain);
}
