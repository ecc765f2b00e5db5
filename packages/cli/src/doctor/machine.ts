import { execFile } from 'node:child_process';
import { ripgrepPath } from '@tandem/client/node';
import type { Finding } from './finding.ts';

/** How long a program may take to say its version. */
const PROGRAM_MS = 5_000;

/** Node, the system, and the programs that tools run. */
export async function examineMachine(env: Readonly<Record<string, string | undefined>>): Promise<Finding[]> {
  const [git, shell] = await Promise.all([
    answers('git', ['--version'], env),
    answers(env['SHELL'] ?? '/bin/sh', ['-c', 'true'], env),
  ]);
  return [
    { about: 'Node', state: 'ok', says: `${process.versions.node} at ${process.execPath}` },
    process.platform === 'win32'
      ? {
          about: 'system',
          state: 'warning',
          says: 'Windows is best effort',
          mend: 'Linux and macOS are what is promised; WSL is one.',
        }
      : { about: 'system', state: 'ok', says: `${process.platform} ${process.arch}` },
    await examineRipgrep(env),
    git
      ? { about: 'git', state: 'ok', says: 'found' }
      : {
          about: 'git',
          state: 'warning',
          says: 'not found; models see no state of the repository',
          mend: 'Install git and put it on PATH.',
        },
    shell
      ? { about: 'shell', state: 'ok', says: env['SHELL'] ?? '/bin/sh' }
      : {
          about: 'shell',
          state: 'broken',
          says: `${env['SHELL'] ?? '/bin/sh'} does not run a command`,
          mend: 'Set SHELL to one that does, such as /bin/sh.',
        },
  ];
}

async function examineRipgrep(env: Readonly<Record<string, string | undefined>>): Promise<Finding> {
  try {
    const path = await ripgrepPath();
    if (await answers(path, ['--version'], env)) return { about: 'ripgrep', state: 'ok', says: path };
  } catch {
    // there is none for this system; the finding below says so
  }
  return {
    about: 'ripgrep',
    state: 'broken',
    says: 'searches will fail',
    mend: 'Install again with optional dependencies: npm install --include=optional.',
  };
}

function answers(file: string, args: string[], env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  return new Promise(resolve => {
    execFile(file, args, { timeout: PROGRAM_MS, env: { ...env } }, error => resolve(error === null));
  });
}
