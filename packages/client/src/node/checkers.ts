import { access, constants } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { runProgram } from './program.ts';
import { messageOf } from './workspace.ts';

/** One problem in a file. Lines and columns count from 1. */
export interface Problem {
  path: string;
  line: number;
  column: number;
  severity: 'error' | 'warning' | 'information' | 'hint';
  message: string;
  /** Who found it, such as `tsc`. */
  source: string;
  code: string;
}

/** A program that checks files, as one workspace has it. */
export interface Checker {
  name: string;
  program: string;
  args: string[];
  /** The folder that it runs in. */
  cwd: string;
  /** Reads its output; throws when it is none that this program gives. */
  parse(stdout: string, cwd: string): Problem[];
}

/** Longest output of a checker that is read. */
const OUTPUT_CAP = 16 * 1024 * 1024;

/** The checkers of a workspace that know about a file: those that it has installed itself, and ruff from the path. */
export async function findCheckers(root: string, file: string, env: NodeJS.ProcessEnv): Promise<Checker[]> {
  const found: (Checker | undefined)[] = [];
  if (/\.[cm]?[jt]sx?$/.test(file)) {
    const [project, tsc, eslint, config] = await Promise.all([
      findUp(root, dirname(file), ['tsconfig.json']),
      findUp(root, dirname(file), [join('node_modules', '.bin', 'tsc')]),
      findUp(root, dirname(file), [join('node_modules', '.bin', 'eslint')]),
      findUp(
        root,
        dirname(file),
        ['js', 'mjs', 'cjs', 'ts'].map(end => `eslint.config.${end}`),
      ),
    ]);
    if (project !== undefined && tsc !== undefined) found.push(tscChecker(tsc, project));
    if (eslint !== undefined && config !== undefined) found.push(eslintChecker(eslint, dirname(config), file));
  }
  if (/\.pyi?$/.test(file)) {
    const ruff = await findOnPath('ruff', env);
    if (ruff !== undefined) found.push(ruffChecker(ruff, root, file));
  }
  return found.filter(checker => checker !== undefined);
}

/** Runs a checker and reads what it says. Rejects when it cannot be started, does not end in time, or says something else. */
export async function runChecker(
  checker: Checker,
  options: { env: NodeJS.ProcessEnv; signal: AbortSignal; deadlineMs: number },
): Promise<Problem[]> {
  const { name, program: file, args, cwd } = checker;
  const { stdout, stderr } = await runProgram({ file, args, cwd, ...options, maxCharacters: OUTPUT_CAP }).catch(
    (error: unknown) => {
      options.signal.throwIfAborted();
      throw new Error(`${name}: ${messageOf(error)}`, { cause: error });
    },
  );
  try {
    return checker.parse(stdout, cwd);
  } catch (error) {
    throw new Error(`${name} gave no report: ${stderr.trim() || stdout.slice(0, 500).trim()}`, { cause: error });
  }
}

function tscChecker(program: string, project: string): Checker {
  return {
    name: 'tsc',
    program,
    args: ['--noEmit', '--pretty', 'false', '--project', project],
    cwd: dirname(project),
    parse(stdout, cwd) {
      const lines = stdout.split(/\r?\n/).filter(line => line !== '');
      const problems = lines.flatMap(line => {
        const found = /^(.+?)\((\d+),(\d+)\): (error|warning) (TS\d+): (.*)$/.exec(line);
        if (found === null) return [];
        const [, path = '', row, column, severity, code = '', message = ''] = found;
        return [
          {
            path: resolve(cwd, path),
            line: Number(row),
            column: Number(column),
            severity: severity as 'error',
            code,
            message,
            source: 'tsc',
          },
        ];
      });
      // A project that cannot be read is told in a line without a file.
      if (problems.length === 0 && lines.length > 0) throw new Error(lines[0]);
      return problems;
    },
  };
}

function eslintChecker(program: string, cwd: string, file: string): Checker {
  return {
    name: 'eslint',
    program,
    args: ['--format', 'json', '--', file],
    cwd,
    parse(stdout) {
      const files = JSON.parse(stdout) as {
        filePath: string;
        messages: { line?: number; column?: number; severity: number; message: string; ruleId: string | null }[];
      }[];
      return files.flatMap(({ filePath, messages }) =>
        messages.map(({ line = 1, column = 1, severity, message, ruleId }) => ({
          path: filePath,
          line,
          column,
          severity: severity === 2 ? ('error' as const) : ('warning' as const),
          message,
          source: 'eslint',
          code: ruleId ?? '',
        })),
      );
    },
  };
}

function ruffChecker(program: string, cwd: string, file: string): Checker {
  return {
    name: 'ruff',
    program,
    args: ['check', '--output-format', 'json', '--no-fix', '--', file],
    cwd,
    parse(stdout) {
      const found = JSON.parse(stdout) as {
        filename: string;
        code: string | null;
        message: string;
        location: { row: number; column: number };
      }[];
      return found.map(({ filename, code, message, location }) => ({
        path: filename,
        line: location.row,
        column: location.column,
        severity: code === null ? ('error' as const) : ('warning' as const),
        message,
        source: 'ruff',
        code: code ?? '',
      }));
    },
  };
}

/** The first of these files in a folder or above it, not above the root. */
async function findUp(root: string, folder: string, names: string[]): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    for (const name of names) if (await exists(join(at, name))) return join(at, name);
    if (at === root || at === dirname(at)) return undefined;
  }
}

async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    if (folder !== '' && (await exists(join(folder, name), constants.X_OK))) return join(folder, name);
  }
  return undefined;
}

async function exists(path: string, mode = constants.F_OK): Promise<boolean> {
  return await access(path, mode).then(
    () => true,
    () => false,
  );
}
