import { execFile } from 'node:child_process';

/** One git command may take this long; a huge repository must not delay a run's beginning. */
const DEADLINE = 2_000;

/** Longest output kept. */
const OUTPUT_CAP = 256 * 1024;

/** The state of the repository around a folder; undefined when there is none, or no git. */
export interface GitState {
  /** The top folder. */
  path: string;
  branchName: string;
  /** `git status --short` below the top folder. */
  status: string;
  /** Without credentials. */
  remoteUrl: string | undefined;
}

/** Looks at the repository of `folder`. Never rejects: what git does not tell in time is left out. */
export async function readGitState(folder: string, signal: AbortSignal): Promise<GitState | undefined> {
  const git = (...args: string[]) => runGit(folder, args, signal);
  const path = await git('rev-parse', '--show-toplevel');
  if (path === undefined) return undefined;
  const [branchName, status, remoteUrl] = await Promise.all([
    git('symbolic-ref', '--short', '--quiet', 'HEAD'),
    git('status', '--short', '--branch', '--untracked-files=normal'),
    git('remote', 'get-url', 'origin'),
  ]);
  return {
    path: path.trim(),
    branchName: branchName?.trim() ?? '',
    status: status ?? '',
    remoteUrl: withoutCredentials(remoteUrl?.trim()),
  };
}

function runGit(cwd: string, args: string[], signal: AbortSignal): Promise<string | undefined> {
  // Optional locks would make a mere look at the state write to the repository.
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' };
  return new Promise(resolve => {
    execFile(
      'git',
      args,
      { cwd, env, signal, timeout: DEADLINE, maxBuffer: OUTPUT_CAP, windowsHide: true },
      (error, stdout) => resolve(error === null ? stdout : undefined),
    );
  });
}

function withoutCredentials(url: string | undefined): string | undefined {
  return url?.replace(/^(\w+:\/\/)[^/@]*@/, '$1');
}
