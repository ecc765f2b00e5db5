import { create } from '@bufbuild/protobuf';
import { GitRepoInfoSchema, RequestContextResultSchema, RequestContextSchema } from '@tandem/protocol/agent';
import type { RequestContext } from '@tandem/protocol/agent';
import { access } from 'node:fs/promises';
import { homedir, release, type } from 'node:os';
import { join } from 'node:path';
import type { Executor } from '../executor.ts';
import { readGitState } from './git.ts';
import { hiddenBelow } from './hidden-files.ts';
import { readHooks } from './hooks-file.ts';
import { listTree } from './ls.ts';
import type { Machine } from './machine.ts';
import type { ConnectedMcpServer } from './mcp/connection.ts';
import { toolDefinitions } from './mcp/servers.ts';
import { readRules } from './rules.ts';
import { readSkills, readSubagents } from './skills.ts';
import { shellPath } from './shell-process.ts';

/** How long the context waits for MCP servers; one that is slower is told by its state later. */
const MCP_WAIT = 10_000;

/** Entries of the layout of a workspace, and how long it may take to find them. */
const LAYOUT_ENTRIES = 300;
const LAYOUT_DEADLINE = 2_000;

/** Tells what the server asks for before a run's first model call (§9, R43): the machine, the repository, the workspace's rules. */
export function requestContextExecutor(machine: Machine): Executor<'requestContextArgs'> {
  return {
    kind: 'requestContextArgs',
    ...(machine.permission.waitsForHuman ? { deadlineMs: null } : {}),
    async run(_args, { signal }) {
      const requestContext = await readContext(machine, signal);
      const value = create(RequestContextResultSchema, { result: { case: 'success', value: { requestContext } } });
      return { case: 'requestContextResult', value };
    },
  };
}

async function readContext(machine: Machine, signal: AbortSignal): Promise<RequestContext> {
  const { root } = machine.workspace;
  const { permission } = machine;
  const [rules, skills, subagents, hooks, layout, git, mcp] = await Promise.all([
    readRules(root),
    readSkills(root),
    readSubagents(root),
    // Hooks that cannot be read are told by the hook that is asked for.
    permission.mode === 'read-only'
      ? new Map<string, unknown>()
      : readHooks(root).catch(() => new Map<string, unknown>()),
    readLayout(machine, signal),
    readGitState(root, signal),
    // Nothing of them could be used in a read-only run, and starting them would run programs of the workspace.
    permission.mode === 'read-only' ? [] : machine.mcp.states(MCP_WAIT, signal),
  ]);
  const connected = mcp.flatMap(({ name, server }) => (server === undefined ? [] : [{ name, server }]));
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
    agentSkills: skills,
    agentSkillsInfoComplete: true,
    customSubagents: subagents,
    customSubagentsInfoComplete: true,
    projectLayouts: layout === undefined ? [] : [layout],
    ...(hooks.size === 0 ? {} : { hooksConfig: { configuredSteps: [...hooks.keys()] } }),
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
    tools: connected.flatMap(({ name, server }) => toolDefinitions(name, server.tools)),
    mcpInstructions: connected
      .filter(({ server }) => server.instructions !== '')
      .map(({ name, server }) => ({ serverName: name, serverIdentifier: name, instructions: server.instructions })),
    mcpMetaToolOptions: { enabled: connected.length > 0, mcpDescriptors: connected.map(describeServer) },
    mcpInfoComplete: mcp.every(({ status }) => status !== 'connecting'),
    adminCommandDenylist: [...machine.permission.deniedCommands],
    userPermissionsAutoRun: {
      allowInstructions: machine.permission.ruleTexts('allow'),
      blockInstructions: machine.permission.ruleTexts('deny'),
    },
    gitRepoInfoComplete: true,
    gitStatusInfoComplete: true,
    rulesInfoComplete: true,
    envInfoComplete: true,
    supportsMcpAuth: false,
    readLintsEnabled: permission.mode !== 'read-only' && (machine.diagnose !== undefined || (await hasChecker(root))),
    searchConversationsEnabled: false,
  });
}

/** The first levels of the workspace, as a map for the model. */
async function readLayout(machine: Machine, signal: AbortSignal) {
  const { root } = machine.workspace;
  try {
    const isHidden = await hiddenBelow(machine, root);
    return await listTree(root, { ignore: [], isHidden, signal, deadlineMs: LAYOUT_DEADLINE, entries: LAYOUT_ENTRIES });
  } catch {
    return undefined; // too large to be listed in time, or not to be looked at: the model can ask for parts of it
  }
}

/** Whether problems can be asked for: a checker of the most common kind is installed. */
async function hasChecker(root: string): Promise<boolean> {
  return await access(join(root, 'node_modules', '.bin', 'tsc')).then(
    () => true,
    () => false,
  );
}

function describeServer({ name, server }: { name: string; server: ConnectedMcpServer }) {
  return {
    serverName: name,
    serverIdentifier: name,
    ...(server.instructions === '' ? {} : { serverUseInstructions: server.instructions }),
    tools: toolDefinitions(name, server.tools).map(({ toolName, description, inputSchema, annotationsJson }) => ({
      toolName,
      description,
      ...(inputSchema === undefined ? {} : { inputSchema }),
      ...(annotationsJson === undefined ? {} : { annotationsJson }),
    })),
  };
}
