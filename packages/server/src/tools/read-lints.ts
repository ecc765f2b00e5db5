import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { DiagnosticSeverity, ReadLintsToolCallSchema } from '@tandem/protocol/agent';
import type { Diagnostic, DiagnosticsResult, ReadLintsToolResultSchema } from '@tandem/protocol/agent';
import { z } from 'zod';
import { excerptOf } from './excerpt.ts';
import { LINT_PATHS, RESULT_CHARACTERS } from './limits.ts';
import { failure, failureText, success } from './outcome.ts';
import { ExecFailure } from './tool.ts';
import type { Card, Tool, ToolContext, ToolFacts } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

const schema = z.object({
  paths: z
    .array(z.string().min(1))
    .min(1)
    .max(LINT_PATHS)
    .describe('Files to check, absolute or from the workspace folder. Name those that you changed.'),
});
type ReadLintsArguments = z.infer<typeof schema>;

/** What is known of one file: its problems, or why there is no telling. */
type Checked = { path: string; problems: Diagnostic[]; total: number } | { path: string; failed: string };

const SEVERITY: Readonly<Record<number, string>> = {
  [DiagnosticSeverity.ERROR]: 'error',
  [DiagnosticSeverity.WARNING]: 'warning',
  [DiagnosticSeverity.INFORMATION]: 'information',
  [DiagnosticSeverity.HINT]: 'hint',
};

function lintsCard(
  { paths = [] }: Partial<ReadLintsArguments>,
  facts: ToolFacts,
  result?: MessageInitShape<typeof ReadLintsToolResultSchema>['result'],
): Card {
  return {
    case: 'readLintsToolCall',
    value: create(ReadLintsToolCallSchema, {
      args: { paths: paths.map(path => workspacePath(path, facts)) },
      ...(result ? { result: { result } } : {}),
    }),
  };
}

const errorOf = (errorMessage: string) => ({ case: 'error' as const, value: { errorMessage } });

/** Tells the problems that the client's editor or checkers see: `exec.diagnostics`, one a file (§10.2, F35). */
export const readLintsTool: Tool<ReadLintsArguments> = {
  name: 'ReadLints',
  aliases: ['read_lints', 'read_linter_errors', 'get_diagnostics', 'GetDiagnostics', 'lint'],
  argumentAliases: { files: 'paths', file_paths: 'paths' },
  card: 'readLintsToolCall',
  description:
    'Tells the errors and warnings that the checkers of the workspace see in files, as PATH:LINE SEVERITY MESSAGE. Not every client can: where it cannot, run the checker with Shell.',
  schema,
  open: (args, { facts }) => lintsCard(args, facts),
  close: (args, message, { facts }) => lintsCard(args, facts, errorOf(message)),
  async execute(args, context) {
    const checked = await Promise.all(args.paths.map(path => check(workspacePath(path, context.facts), context)));
    const read = checked.filter(one => 'problems' in one);
    const text = excerptOf(checked.map(checkedText).join('\n'), RESULT_CHARACTERS);
    if (read.length === 0) return failure(lintsCard(args, context.facts, errorOf(text)), text);
    const fileDiagnostics = read.map(({ path, problems, total }) => ({
      path,
      diagnostics: problems.map(({ severity, range, message, source, code, isStale }) => ({
        severity,
        ...(range && { range: { start: range.start, end: range.end } }),
        message,
        source,
        code,
        isStale,
      })),
      diagnosticsCount: total,
    }));
    const totalDiagnostics = read.reduce((sum, { total }) => sum + total, 0);
    const value = { fileDiagnostics, totalFiles: read.length, totalDiagnostics };
    return success(lintsCard(args, context.facts, { case: 'success', value }), text);
  },
};

/** One file that cannot be checked leaves the others alone. */
async function check(path: string, context: ToolContext): Promise<Checked> {
  try {
    const { result } = await context.exec.diagnostics({ path, toolCallId: context.callId });
    if (result.case !== 'success') return { path, failed: problemOf(result) };
    const { diagnostics, totalDiagnostics } = result.value;
    return { path, problems: diagnostics, total: Math.max(totalDiagnostics, diagnostics.length) };
  } catch (error) {
    if (!(error instanceof ExecFailure) || error.reason === 'aborted') throw error;
    return { path, failed: failureText(readLintsTool.name, error) };
  }
}

function problemOf(result: DiagnosticsResult['result']): string {
  switch (result.case) {
    case 'fileNotFound':
      return 'there is no such file';
    case 'permissionDenied':
      return 'permission denied';
    case 'rejected':
      return `the user did not allow it. ${result.value.reason}`.trim();
    case 'error':
      return result.value.error || 'the client gave no reason';
    default:
      return 'the client sent a malformed result';
  }
}

function checkedText(checked: Checked): string {
  const { path } = checked;
  if ('failed' in checked) return `${path} could not be checked: ${checked.failed}`;
  const { problems, total } = checked;
  if (total === 0) return `${path}: no problems`;
  const lines = problems.map(({ range, severity, message, source, code, isStale }) => {
    const line = range?.start === undefined ? '' : `:${range.start.line}`;
    const rule = [source, code].filter(word => word !== '').join(' ');
    return `${path}${line} ${SEVERITY[severity] ?? 'problem'} ${message}${rule === '' ? '' : ` (${rule})`}${isStale ? ' [seen before the last change]' : ''}`;
  });
  if (total > problems.length) lines.push(`(${total - problems.length} more in ${path}.)`);
  return lines.join('\n');
}
