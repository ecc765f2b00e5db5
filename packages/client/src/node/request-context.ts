import { create } from '@bufbuild/protobuf';
import { GitRepoInfoSchema, RequestContextResultSchema, RequestContextSchema } from '@tandem/protocol/agent';
import type { RequestContext } from '@tandem/protocol/agent';
import { homedir, release, type } from 'node:os';
import type { Executor } from '../executor.ts';
import { readGitState } from './git.ts';
import type { Machine } from './machine.ts';
import { readRules } from './rules.ts';
import { shellPath } from './shell-process.ts';

/** Tells what the server asks for before a run's first model call (§9, R43): the machine, the repository, the workspace's rules. */
export function requestContextExecutor(machine: Machine): Executor<'requestContextArgs'> {
  return {
    kind: 'requestContextArgs',
    async run(_args, { signal }) {
      const requestContext = await readContext(machine, signal);
      const value = create(RequestContextResultSchema, { result: { case: 'success', value: { requestContext } } });
      return { case: 'requestContextResult', value };
    },
  };
}

async function readContext(machine: Machine, signal: AbortSignal): Promise<RequestContext> {
  const { root } = machine.workspace;
  const [rules, git] = await Promise.all([readRules(root), readGitState(root, signal)]);
  return create(RequestContextSchema, {
    env: {
      osVersion: `${type()} ${release()}`.toLowerCase(),
      workspacePaths: [root],
      shell: shellPath().split('/').at(-1) ?? 'sh',
      terminalsFolder: machine.terminals.path,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
      projectFolder: root,
      processWorkingDirectory: root,
      isWorkingDirHomeDir: root === homedir(),
      sandboxEnabled: false,
      sandboxSupported: false,
      computerUseSupported: false,
    },
    rules,
    gitRepos:
      git === undefined
        ? []
        : [
            create(GitRepoInfoSchema, {
              path: git.path,
              status: git.status,
              branchName: git.branchName,
              ...(git.remoteUrl === undefined ? {} : { remoteUrl: git.remoteUrl }),
            }),
          ],
    gitRepoInfoComplete: true,
    gitStatusInfoComplete: true,
    rulesInfoComplete: true,
    envInfoComplete: true,
    supportsMcpAuth: false,
    readLintsEnabled: false,
    searchConversationsEnabled: false,
  });
}
