import { DiagnosticSeverity } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { runTool, scriptedCall } from '../../test/tools/scripted-exec.ts';
import type { Script } from '../../test/tools/scripted-exec.ts';
import { readLintsTool } from './read-lints.ts';
import { ExecFailure } from './tool.ts';

const lint = async (paths: string[], diagnostics?: NonNullable<Script['diagnostics']>) => {
  const call = scriptedCall(diagnostics === undefined ? {} : { diagnostics });
  return { ...(await runTool(readLintsTool, { paths }, call)), asked: call.calls.map(({ args }) => args) };
};
const place = (line: number) => ({ start: { line, column: 5 }, end: { line, column: 9 } });

describe('ReadLints', () => {
  it('asks for each file and tells its problems by line, severity and words', async () => {
    const { text, result, args, asked, isError } = await lint(['src/a.ts', 'b.ts'], ({ path }) => ({
      case: 'success',
      value: path.endsWith('b.ts')
        ? { path, diagnostics: [], totalDiagnostics: 0 }
        : {
            path,
            diagnostics: [
              {
                severity: DiagnosticSeverity.ERROR,
                range: place(7),
                message: 'x is not defined',
                source: 'ts',
                code: '2304',
              },
              { severity: DiagnosticSeverity.WARNING, message: 'unused', isStale: true },
            ],
            totalDiagnostics: 5,
          },
    }));
    expect(asked).toEqual([
      { path: '/ws/src/a.ts', toolCallId: 'call-1' },
      { path: '/ws/b.ts', toolCallId: 'call-1' },
    ]);
    expect(text).toBe(
      [
        '/ws/src/a.ts:7 error x is not defined (ts 2304)',
        '/ws/src/a.ts warning unused [seen before the last change]',
        '(3 more in /ws/src/a.ts.)',
        '/ws/b.ts: no problems',
      ].join('\n'),
    );
    expect(isError).toBe(false);
    expect(args.paths).toEqual(['/ws/src/a.ts', '/ws/b.ts']);
    expect(result).toMatchObject({
      case: 'success',
      value: {
        totalFiles: 2,
        totalDiagnostics: 5,
        fileDiagnostics: [
          {
            path: '/ws/src/a.ts',
            diagnosticsCount: 5,
            diagnostics: [{ message: 'x is not defined', range: place(7) }, {}],
          },
          { path: '/ws/b.ts', diagnosticsCount: 0, diagnostics: [] },
        ],
      },
    });
  });

  it('tells of a file that cannot be checked beside those that can', async () => {
    const { text, isError, result } = await lint(['gone.ts', 'a.ts', 'b.ts'], ({ path }) => {
      if (path.endsWith('gone.ts')) return { case: 'fileNotFound', value: { path } };
      if (path.endsWith('b.ts')) return new ExecFailure('thrown', 'Error: the checker crashed');
      return { case: 'success', value: { path } };
    });
    expect(text.split('\n')).toEqual([
      '/ws/gone.ts could not be checked: there is no such file',
      '/ws/a.ts: no problems',
      '/ws/b.ts could not be checked: the checker crashed',
    ]);
    expect([isError, result.value.totalFiles]).toEqual([false, 1]);
  });

  it('is an error when no file could be checked, and says that a client cannot', async () => {
    const { text, isError, result } = await lint(['a.ts']);
    expect(text).toMatch(/^\/ws\/a\.ts could not be checked: ReadLints is not available in this client/);
    expect([isError, result.case, result.value.errorMessage]).toEqual([true, 'error', text]);
    const rejected = await lint(['a.ts'], { case: 'rejected', value: { path: '/ws/a.ts', reason: 'Not now.' } });
    expect(rejected.text).toBe('/ws/a.ts could not be checked: the user did not allow it. Not now.');
  });
});
