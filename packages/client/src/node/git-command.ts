import { spawn } from 'node:child_process';

/** How one git command ended; `cut` when there was more output than asked for. */
export interface GitOutput {
  code: number;
  stdout: Buffer;
  complaints: string;
  cut: boolean;
}

/**
 * Runs git in `cwd` without locks, prompts, pagers or outside programs. Rejects when git cannot be started, is aborted, or does not end within
 * `deadlineMs`; any exit code is an answer.
 */
export function runGitCommand(options: {
  cwd: string;
  args: readonly string[];
  signal: AbortSignal;
  deadlineMs: number;
  maxBytes: number;
}): Promise<GitOutput> {
  // A repository's own settings can name programs to run: those that a mere look would start are switched off.
  const safe = [
    '-c',
    'core.fsmonitor=false',
    '-c',
    'core.pager=cat',
    '-c',
    'core.quotePath=false',
    '-c',
    'diff.external=',
  ];
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...safe, ...options.args], {
      cwd: options.cwd,
      env,
      signal: options.signal,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    let length = 0;
    let cut = false;
    let complaints = '';
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, options.deadlineMs);
    child.stdout.on('data', (chunk: Buffer) => {
      if (cut) return;
      chunks.push(chunk);
      length += chunk.length;
      if (length <= options.maxBytes) return;
      cut = true;
      child.kill();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints = (complaints + text).slice(0, 2000)));
    child.once('error', error => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('close', code => {
      clearTimeout(timer);
      if (late) return reject(new Error(`git ${options.args[0]} did not end within ${options.deadlineMs / 1000} s`));
      resolve({ code: code ?? 0, stdout: Buffer.concat(chunks).subarray(0, options.maxBytes), complaints, cut });
    });
  });
}
