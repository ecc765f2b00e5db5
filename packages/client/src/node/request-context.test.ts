import { RequestContextArgsSchema } from '@tandem/protocol/agent';
import type { RequestContext } from '@tandem/protocol/agent';
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import { requestContextExecutor } from './request-context.ts';

async function context(made: ReturnType<typeof makeMachine>): Promise<RequestContext> {
  const [answer] = await runExecutor(requestContextExecutor(made.machine), RequestContextArgsSchema, {});
  const [branch, value] = branchOf(answer);
  expect(branch).toBe('success');
  return value['requestContext'] as RequestContext;
}

it('[§10.2-request-context] tells the machine, the workspace and the folder of terminals', async () => {
  const made = makeMachine();
  const { env } = await context(made);
  expect(env).toMatchObject({
    workspacePaths: [made.root],
    processWorkingDirectory: made.root,
    terminalsFolder: made.machine.terminals.path,
  });
  expect(env?.osVersion).toMatch(new RegExp(process.platform === 'linux' ? 'linux' : '.'));
  expect(env?.shell).toMatch(/sh$/);
  expect(env?.timeZone).toMatch(/^UTC$|\//);
});

it('[§10.2-request-context] brings the rules, each with what it holds for', async () => {
  const made = makeMachine({
    'AGENTS.md': 'The codeword is pangolin.\n',
    '.cursor/rules/always.mdc': '---\nalwaysApply: true\n---\nThe animal is okapi.\n',
    '.cursor/rules/web/globs.mdc': '---\ndescription: web\nglobs: "*.ts,*.tsx"\nalwaysApply: false\n---\nUse hooks.\n',
    '.cursor/rules/list.mdc': '---\nglobs:\n  - a/*.py\n  - b/*.py\n---\nTyped.\n',
    '.cursor/rules/asked.mdc': '---\ndescription: When deploying\n---\nCarefully.\n',
    '.cursor/rules/hand.mdc': 'Only by hand.\n',
    '.cursor/rules/broken.mdc': '---\nnever closed\n',
    '.cursor/rules/image.mdc': Uint8Array.of(0, 1),
  });
  const { rules } = await context(made);
  const types = Object.fromEntries(rules.map(rule => [rule.fullPath.slice(made.root.length + 1), rule.type?.type]));
  expect(types).toMatchObject({
    'AGENTS.md': { case: 'global' },
    '.cursor/rules/always.mdc': { case: 'global' },
    '.cursor/rules/web/globs.mdc': { case: 'fileGlobbed', value: { globs: ['*.ts', '*.tsx'] } },
    '.cursor/rules/list.mdc': { case: 'fileGlobbed', value: { globs: ['a/*.py', 'b/*.py'] } },
    '.cursor/rules/asked.mdc': { case: 'agentFetched', value: { description: 'When deploying' } },
    '.cursor/rules/hand.mdc': { case: 'manuallyAttached' },
  });
  expect(Object.keys(types)).not.toContain('.cursor/rules/image.mdc');
  expect(rules.find(rule => rule.fullPath.endsWith('always.mdc'))).toMatchObject({
    content: 'The animal is okapi.\n',
    frontmatter: 'alwaysApply: true',
  });
});

it('reads a rule whose head is 200 KB of rubbish in no time', async () => {
  const made = makeMachine({ '.cursor/rules/bad.mdc': `---\n${'a: - '.repeat(40_000)}` });
  const startedAt = performance.now();
  await context(made);
  expect(performance.now() - startedAt).toBeLessThan(2_500);
});

it('tells branch and state of the repository, and no credentials of its remote', async () => {
  const made = makeMachine({ 'a.txt': 'x' });
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: made.root, env: { PATH: process.env['PATH'], HOME: made.base } });
  git('init', '--quiet', '--initial-branch=trunk');
  git('remote', 'add', 'origin', 'https://me:token-1@example.org/x.git');
  const { gitRepos } = await context(made);
  expect(gitRepos).toMatchObject([{ path: made.root, branchName: 'trunk', remoteUrl: 'https://example.org/x.git' }]);
  expect(gitRepos[0]?.status).toContain('?? a.txt');
});
