import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { nodeExecutors, ripgrepPath } from '@tandem/client/node';
import { GrepArgsSchema } from '@tandem/protocol/agent';
import type { ExecAnswer } from '@tandem/client';
import type { Figure } from './figure.ts';

const FOLDERS = 250;
const FILES = 50_000;
/** One file in so many has the word that is searched: 1,000 of them, half of the lines that a search gives at most. */
const EVERY = 50;
const PATTERN = 'needle_\\d+';

const line = 'The quick brown fox jumps over the lazy dog, and nobody asked it why.\n';

function makeTree(): string {
  const root = mkdtempSync(join(tmpdir(), 'tandem-bench-grep-'));
  for (let folder = 0; folder < FOLDERS; folder++) {
    mkdirSync(join(root, `folder-${folder}`));
    for (let file = 0; file < FILES / FOLDERS; file++) {
      const number = folder * (FILES / FOLDERS) + file;
      const found = number % EVERY === 0 ? `const needle_${number} = 1;\n` : '';
      writeFileSync(join(root, `folder-${folder}`, `file-${file}.ts`), line.repeat(8) + found + line.repeat(8));
    }
  }
  return root;
}

/** What is asked, and how ripgrep alone is asked for the same. */
const SEARCHES = [
  { mode: 'content', pattern: PATTERN, flags: ['--line-number', '--with-filename', '--regexp', PATTERN] },
  { mode: 'count', pattern: PATTERN, flags: ['--count', '--with-filename', '--regexp', PATTERN] },
  { mode: 'files_with_matches', pattern: PATTERN, flags: ['--files-with-matches', '--regexp', PATTERN] },
  { mode: 'files_with_matches', pattern: '', flags: ['--files'] },
] as const;

async function runRipgrepAlone(file: string, flags: readonly string[], cwd: string): Promise<number> {
  const startedAt = performance.now();
  const ignored = ['--no-config', '--color=never', '--hidden', '--no-require-git', '--glob', '!.git'];
  const child = spawn(file, [...ignored, ...flags, './'], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  await once(child, 'close');
  return performance.now() - startedAt;
}

function foundIn(answer: ExecAnswer): number {
  const { result } = answer.value as {
    result: { case?: string; value?: { workspaceResults: Record<string, unknown> } };
  };
  if (result.case !== 'success') throw new Error(`the search failed: ${JSON.stringify(result)}`);
  const [union] = Object.values(result.value!.workspaceResults) as { result: { value: Record<string, unknown[]> } }[];
  const { matches, counts, files } = union!.result.value;
  return (matches ?? counts ?? files)!.length;
}

/** A search of the client over 50,000 files against ripgrep alone, whose output is thrown away. */
export async function measureClientGrep(repetitions: number): Promise<Figure[]> {
  const root = makeTree();
  try {
    const rg = await ripgrepPath();
    const grep = nodeExecutors({ workspace: root, permission: 'read-only' }).find(one => one.kind === 'grepArgs')!;
    const search = async (outputMode: string, pattern: string, expected: number) => {
      const startedAt = performance.now();
      const args = create(GrepArgsSchema, { pattern, outputMode });
      const run = grep.run as (args: unknown, context: { signal: AbortSignal }) => Promise<ExecAnswer>;
      const found = foundIn(await run(args, { signal: new AbortController().signal }));
      if (found !== expected) throw new Error(`${found} files were found, not ${expected}`);
      return performance.now() - startedAt;
    };
    const figures: Figure[] = [];
    for (const { mode, pattern, flags } of SEARCHES) {
      const ours: number[] = [];
      const limit: number[] = [];
      for (let i = -1; i < Math.max(repetitions, 7); i++) {
        const took = await search(mode, pattern, pattern === '' ? FILES : FILES / EVERY);
        const alone = await runRipgrepAlone(rg, flags, root);
        if (i < 0) continue; // fills the cache of the file system
        ours.push(took);
        limit.push(alone);
      }
      figures.push({
        name: `grep, ${pattern === '' ? 'list of files' : mode.replaceAll('_', ' ')}`,
        workload: `${FILES} files of 1.1 KB in ${FOLDERS} folders, ${pattern === '' ? 'all listed' : `${FILES / EVERY} of them match`}, the exec of the client as a whole`,
        unit: 'ms',
        ours,
        limit: { what: `rg ${flags[0]}, output thrown away`, values: limit },
        target: { atMost: 1.3 },
      });
    }
    return figures;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
