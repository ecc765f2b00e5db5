import { DiagnosticsArgsSchema } from '@tandem/protocol/agent';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import { diagnosticsExecutor } from './diagnostics.ts';
import type { Machine } from './machine.ts';

const diagnose = async (machine: Machine, path: string, signal?: AbortSignal) =>
  branchOf((await runExecutor(diagnosticsExecutor(machine), DiagnosticsArgsSchema, { path }, signal))[0]);

/** A workspace whose checker is a script of ours. */
function withChecker(script: string, options: Parameters<typeof makeMachine>[1] = {}, name = 'tsc') {
  const made = makeMachine(
    { 'tsconfig.json': '{}', 'eslint.config.js': '', 'src/a.ts': 'let a: number = "x";', 'src/b.ts': '' },
    options,
  );
  mkdirSync(made.file('node_modules/.bin'), { recursive: true });
  writeFileSync(made.file(`node_modules/.bin/${name}`), `#!/bin/sh\n${script}\n`);
  chmodSync(made.file(`node_modules/.bin/${name}`), 0o755);
  return made;
}

it('[§10.2-diagnostics] tells the problems of one file as the workspace itself finds them', async () => {
  const { machine, file } = withChecker(
    `echo "src/a.ts(1,5): error TS2322: Type 'string' is not assignable."; echo "src/b.ts(9,9): error TS1: Other."; exit 2`,
  );
  expect(await diagnose(machine, 'src/a.ts')).toMatchObject([
    'success',
    {
      path: file('src/a.ts'),
      totalDiagnostics: 1,
      diagnostics: [
        {
          severity: 1,
          code: 'TS2322',
          source: 'tsc',
          message: "Type 'string' is not assignable.",
          range: { start: { line: 1, column: 5 } },
        },
      ],
    },
  ]);
});

it('reads the reports of eslint', async () => {
  const { machine, file } = withChecker('true', {}, 'eslint');
  const report = [
    { filePath: file('src/a.ts'), messages: [{ line: 2, column: 3, severity: 1, message: 'm', ruleId: 'r' }] },
  ];
  writeFileSync(file('node_modules/.bin/eslint'), `#!/bin/sh\necho '${JSON.stringify(report)}'\n`);
  expect(await diagnose(machine, 'src/a.ts')).toMatchObject([
    'success',
    { diagnostics: [{ severity: 2, code: 'r', source: 'eslint' }] },
  ]);
});

it('tells a file without problems from one that nobody checked', async () => {
  expect(await diagnose(withChecker('true').machine, 'src/a.ts')).toMatchObject(['success', { totalDiagnostics: 0 }]);
  expect(await diagnose(makeMachine({ 'a.rb': '' }).machine, 'a.rb')).toMatchObject([
    'error',
    { error: expect.stringContaining('no checker') },
  ]);
  expect(await diagnose(withChecker('echo "error TS5023: Unknown option"; exit 1').machine, 'src/a.ts')).toMatchObject([
    'error',
    { error: expect.stringContaining('TS5023') },
  ]);
  expect((await diagnose(makeMachine().machine, 'none.ts'))[0]).toBe('fileNotFound');
});

it('[product-permission-read-only] runs no program of the workspace in a read-only run', async () => {
  const { machine, file } = withChecker('touch ran', { mode: 'read-only' });
  expect((await diagnose(machine, 'src/a.ts'))[0]).toBe('rejected');
  expect(existsSync(file('ran'))).toBe(false);
});

it('stops a checker that is not wanted any more', async () => {
  const { machine } = withChecker('sleep 60');
  const controller = new AbortController();
  const running = diagnose(machine, 'src/a.ts', controller.signal);
  setTimeout(() => controller.abort(new Error('enough')), 100);
  await expect(running).rejects.toThrow('enough');
});

it('asks an embedder first', async () => {
  const { machine } = makeMachine({ 'a.rb': '' });
  machine.diagnose = path =>
    Promise.resolve([{ path, line: 1, column: 2, severity: 'hint', message: 'm', source: 'editor', code: '' }]);
  expect(await diagnose(machine, 'a.rb')).toMatchObject([
    'success',
    { diagnostics: [{ severity: 4, source: 'editor' }] },
  ]);
});
