import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { DiagnosticSeverity, DiagnosticsResultSchema } from '@tandem/protocol/agent';
import type { DiagnosticSchema, DiagnosticsArgs } from '@tandem/protocol/agent';
import { stat } from 'node:fs/promises';
import type { ExecAnswer, Executor } from '../executor.ts';
import { findCheckers, runChecker } from './checkers.ts';
import type { Problem } from './checkers.ts';
import type { Machine } from './machine.ts';
import { codeOf, messageOf } from './workspace.ts';

type Result = NonNullable<MessageInitShape<typeof DiagnosticsResultSchema>['result']>;

/** Finds the problems of a file for an embedder that knows better than the workspace's own programs, such as an editor. Undefined leaves it to those. */
export type Diagnose = (path: string, signal: AbortSignal) => Promise<Problem[] | undefined>;

/** One checker may take this long; a whole project is checked for one file. */
const DEADLINE = 120_000;

/** Problems told of one file; who has more mends some first. */
const PROBLEMS_CAP = 200;

/**
 * The problems of a file as the workspace's own checker sees them. Running it is running the workspace's programs, so it needs leave as any
 * command does. Without a checker the result is an error: silence would look like a file without problems.
 */
export function diagnosticsExecutor(machine: Machine): Executor<'diagnosticsArgs'> {
  return {
    kind: 'diagnosticsArgs',
    ...(machine.permission.waitsForHuman ? { deadlineMs: null } : {}),
    async run(args, { signal }): Promise<ExecAnswer> {
      const result = await diagnose(machine, args, signal);
      return { case: 'diagnosticsResult', value: create(DiagnosticsResultSchema, { result }) };
    },
  };
}

async function diagnose(machine: Machine, args: DiagnosticsArgs, signal: AbortSignal): Promise<Result> {
  const { workspace, permission, env } = machine;
  const path = workspace.resolve(args.path);
  try {
    if ((await stat(path)).isDirectory())
      return { case: 'error', value: { path, error: 'Path is a directory, not a file' } };
    const given = await machine.diagnose?.(path, signal);
    if (given !== undefined) return success(path, given);
    const checkers = await findCheckers(workspace.root, path, env);
    if (checkers.length === 0)
      return { case: 'error', value: { path, error: 'this workspace has no checker for this file' } };
    const problems: Problem[] = [];
    for (const checker of checkers) {
      const command = [checker.program, ...checker.args].join(' ');
      const inside = workspace.contains(checker.cwd);
      const verdict = await permission.run({ command, workingDirectory: checker.cwd, inside, denied: [], signal });
      if (!verdict.allowed) return { case: 'rejected', value: { path, reason: verdict.reason } };
      problems.push(...(await runChecker(checker, { env, signal, deadlineMs: DEADLINE })));
    }
    const real = await workspace.real(path);
    return success(
      path,
      problems.filter(problem => problem.path === path || problem.path === real),
    );
  } catch (error) {
    signal.throwIfAborted();
    switch (codeOf(error)) {
      case 'ENOENT':
      case 'ENOTDIR':
        return { case: 'fileNotFound', value: { path } };
      case 'EACCES':
        return { case: 'permissionDenied', value: { path } };
      default:
        return { case: 'error', value: { path, error: messageOf(error) } };
    }
  }
}

function success(path: string, problems: readonly Problem[]): Result {
  const diagnostics = problems.slice(0, PROBLEMS_CAP).map(diagnosticOf);
  return { case: 'success', value: { path, diagnostics, totalDiagnostics: problems.length } };
}

const SEVERITIES = {
  error: DiagnosticSeverity.ERROR,
  warning: DiagnosticSeverity.WARNING,
  information: DiagnosticSeverity.INFORMATION,
  hint: DiagnosticSeverity.HINT,
} as const;

function diagnosticOf(problem: Problem): MessageInitShape<typeof DiagnosticSchema> {
  const { line, column, severity, message, source, code } = problem;
  const place = { line, column };
  return { severity: SEVERITIES[severity], range: { start: place, end: place }, message, source, code };
}
