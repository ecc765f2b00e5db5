import { spawn } from 'node:child_process';

/** Longest single record of ripgrep's output that is kept; a longer one (a file of one endless line) is skipped. */
const RECORD_CAP = 1024 * 1024;

/** Longest text of complaints kept. */
const COMPLAINTS_CAP = 4096;

/** How ripgrep ended. */
export interface RipgrepEnd {
  /** 0 found something, 1 nothing, 2 an error; null when it was stopped. */
  code: number | null;
  /** What it wrote to standard error. */
  complaints: string;
  /** Whether `onRecord` had enough. */
  stopped: boolean;
  /** Whether a record was too long and left out. */
  skipped: boolean;
}

/** Flags of every search: hidden files too, ignore rules also outside of a repository, never the repository's own folder. */
export const SEARCH_FLAGS = ['--no-config', '--color=never', '--hidden', '--no-require-git'];

/** Comes last, so that no glob of the question brings the folder back. */
export const WITHOUT_GIT = ['--glob', '!**/.git/**', '--glob', '!.git'];

/** Flags that leave out what these globs match. */
export function withoutGlobs(globs: readonly string[]): string[] {
  return globs.flatMap(glob => ['--glob', `!${glob}`]);
}

/**
 * Runs ripgrep in `cwd` and gives its output record by record, cut at `separator`; `onRecord` returns false when it has enough. Rejects
 * when ripgrep cannot be started, does not end within `deadlineMs`, or the signal is aborted.
 */
export async function runRipgrep(options: {
  args: string[];
  cwd: string;
  separator: '\n' | '\0';
  signal: AbortSignal;
  deadlineMs: number;
  onRecord: (record: string) => boolean;
}): Promise<RipgrepEnd> {
  // Not needed by runs that search nothing, and absent on platforms it was not built for.
  const { rgPath } = await import('@vscode/ripgrep');
  options.signal.throwIfAborted();
  return await new Promise((resolve, reject) => {
    const child = spawn(rgPath, options.args, {
      cwd: options.cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const end: RipgrepEnd = { code: null, complaints: '', stopped: false, skipped: false };
    let failure: Error | undefined;
    const stop = (error?: Error) => {
      failure ??= error;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(
      () => stop(new Error(`the search did not end within ${options.deadlineMs / 1000} s`)),
      options.deadlineMs,
    );
    const onAbort = () => stop(new Error('the search was aborted'));
    options.signal.addEventListener('abort', onAbort, { once: true });
    const split = splitRecords(options.separator, () => (end.skipped = true));
    child.stdout.on('data', (chunk: Buffer) => {
      for (const record of split(chunk)) {
        if (end.stopped) return;
        if (options.onRecord(record)) continue;
        end.stopped = true;
        stop();
      }
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (end.complaints.length < COMPLAINTS_CAP)
        end.complaints += text.slice(0, COMPLAINTS_CAP - end.complaints.length);
    });
    const settle = (error: Error | undefined) => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', onAbort);
      if (error === undefined) resolve(end);
      else reject(error);
    };
    child.on('error', error => settle(error));
    child.on('close', code => {
      end.code = code;
      settle(failure);
    });
  });
}

/**
 * Cuts chunks into records. The whole records of a chunk become text in one go: file lists have tens of thousands, and a call into
 * native code for each would cost more than ripgrep itself.
 */
function splitRecords(separator: '\n' | '\0', onSkip: () => void): (chunk: Buffer) => string[] {
  const mark = separator.charCodeAt(0);
  let parts: Buffer[] = [];
  let length = 0;
  const keep = (rest: Buffer) => {
    length += rest.length;
    if (length > RECORD_CAP) parts = [];
    else if (rest.length > 0) parts.push(rest);
  };
  return chunk => {
    const first = chunk.indexOf(mark);
    if (first < 0) {
      keep(chunk);
      return [];
    }
    const isTooLong = length + first > RECORD_CAP;
    if (isTooLong) onSkip();
    const last = chunk.lastIndexOf(mark);
    const whole = isTooLong ? chunk.subarray(first + 1, Math.max(last, first + 1)) : chunk.subarray(0, last);
    const bytes = isTooLong || parts.length === 0 ? whole : Buffer.concat([...parts, whole]);
    const records = isTooLong && last === first ? [] : bytes.toString('utf8').split(separator);
    parts = [];
    length = 0;
    keep(chunk.subarray(last + 1));
    return records;
  };
}

/** A record of `rg --json`: text that is valid UTF-8 as text, else as base64. */
export interface RipgrepRecord {
  type: 'begin' | 'match' | 'context' | 'end' | 'summary';
  data: { path?: RipgrepText; lines?: RipgrepText; line_number?: number | null };
}
type RipgrepText = { text?: string; bytes?: string };

/** The text in a record; bytes that are no UTF-8 become replacement characters. */
export function textOf(value: RipgrepText | undefined): string {
  return value?.text ?? Buffer.from(value?.bytes ?? '', 'base64').toString('utf8');
}

/** The path of the ripgrep that searches use, for whoever examines this machine. Rejects where there is none for its system. */
export async function ripgrepPath(): Promise<string> {
  const { rgPath } = await import('@vscode/ripgrep');
  return rgPath;
}
