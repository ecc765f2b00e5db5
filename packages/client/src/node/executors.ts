import type { Executors } from '../executor.ts';
import type { Diagnose } from './diagnostics.ts';
import type { OnFileChange } from './file-change.ts';
import { lateExecutor } from './late-executor.ts';
import type { Machine } from './machine.ts';
import { McpServers } from './mcp/servers.ts';
import type { McpServerConfig } from './mcp/server-config.ts';
import { Permission } from './permission.ts';
import { loadRules, projectRulesPath, saveRule, userRulesPath } from './permission-file.ts';
import type { Ask } from './permission-question.ts';
import type { PermissionMode } from './permission.ts';
import { Shells } from './shell-job.ts';
import { shellStreamExecutor } from './shell-stream.ts';
import { terminalsFolder } from './state-folder.ts';
import { TerminalFolder } from './terminal-folder.ts';
import { Workspace } from './workspace.ts';

/** What the executors of this machine need to know. */
export interface NodeExecutorOptions {
  /** The folder of the run; it has to exist. */
  workspace: string;
  permission: PermissionMode;
  /** Asks a human. Without it, what would be asked is refused with a reason. */
  ask?: Ask;
  /** Where the output of shells is kept; a folder of this workspace in the user's state when absent. */
  terminalsFolder?: string;
  /** The environment of shells. When absent, this process's own without Tandem's variables, which may hold a key. */
  env?: NodeJS.ProcessEnv;
  /** Is told of each change of a file before it is made, for an undo. */
  onFileChange?: OnFileChange;
  /** Finds problems in files, instead of the workspace's own checkers. */
  diagnose?: Diagnose;
  /** Gives commands whose input stays open a terminal of their own (a pty); pipes when absent. */
  pty?: boolean;
  /** MCP servers of the user, beside those that the workspace declares. */
  mcpServers?: Readonly<Record<string, McpServerConfig>>;
  /** The user's file of permission rules; `permissions.json` in Tandem's configuration folder when absent. */
  permissionsFile?: string;
  /** Is told of a rule that the answer `always` has put into the user's file. */
  onRuleKept?: (rule: string, file: string) => void;
  /** Commands that an administrator denies, besides those that the server names; see `deniedBecause`. */
  deniedCommands?: readonly string[];
}

/** Executors for this machine, one a kind. Throws when the workspace does not exist, and a PermissionsFileError when a file of rules cannot be understood. */
export function nodeExecutors(options: NodeExecutorOptions): Executors {
  const workspace = new Workspace(options.workspace);
  const permission = makePermission(workspace.root, options);
  const env = options.env ?? ownEnvironment();
  const machine: Machine = {
    workspace,
    permission,
    terminals: new TerminalFolder(options.terminalsFolder ?? terminalsFolder(workspace.root)),
    shells: new Shells(),
    mcp: new McpServers({ workspace: workspace.root, given: options.mcpServers, env, permission }),
    onFileChange: options.onFileChange,
    diagnose: options.diagnose,
    pty: options.pty,
    env,
  };
  // A human may be asked first, who takes the time that it takes.
  const human = permission.waitsForHuman ? null : undefined;
  return [
    lateExecutor(
      machine,
      'requestContextArgs',
      async () => (await import('./request-context.ts')).requestContextExecutor,
      human,
    ),
    lateExecutor(machine, 'readArgs', async () => (await import('./read.ts')).readExecutor, human),
    lateExecutor(machine, 'writeArgs', async () => (await import('./write.ts')).writeExecutor, human),
    lateExecutor(machine, 'deleteArgs', async () => (await import('./delete.ts')).deleteExecutor, human),
    lateExecutor(machine, 'grepArgs', async () => (await import('./grep.ts')).grepExecutor),
    lateExecutor(machine, 'lsArgs', async () => (await import('./ls.ts')).lsExecutor),
    shellStreamExecutor(machine),
    lateExecutor(machine, 'shellArgs', async () => (await import('./shell.ts')).shellExecutor, null),
    lateExecutor(
      machine,
      'backgroundShellSpawnArgs',
      async () => (await import('./background-shell-spawn.ts')).backgroundShellSpawnExecutor,
      null,
    ),
    lateExecutor(
      machine,
      'writeShellStdinArgs',
      async () => (await import('./write-shell-stdin.ts')).writeShellStdinExecutor,
    ),
    lateExecutor(
      machine,
      'forceBackgroundShellArgs',
      async () => (await import('./force-background-shell.ts')).forceBackgroundShellExecutor,
    ),
    {
      ...lateExecutor(machine, 'mcpArgs', async () => (await import('./mcp.ts')).mcpExecutor, null),
      close: () => machine.mcp.close(),
    },
    lateExecutor(machine, 'mcpStateExecArgs', async () => (await import('./mcp-state.ts')).mcpStateExecutor, human),
    lateExecutor(
      machine,
      'listMcpResourcesExecArgs',
      async () => (await import('./list-mcp-resources.ts')).listMcpResourcesExecutor,
      human,
    ),
    lateExecutor(
      machine,
      'readMcpResourceExecArgs',
      async () => (await import('./read-mcp-resource.ts')).readMcpResourceExecutor,
      human,
    ),
    lateExecutor(machine, 'fetchArgs', async () => (await import('./fetch.ts')).fetchExecutor, null),
    lateExecutor(machine, 'gitDiffRequest', async () => (await import('./git-diff.ts')).gitDiffExecutor),
    lateExecutor(machine, 'diagnosticsArgs', async () => (await import('./diagnostics.ts')).diagnosticsExecutor, human),
    lateExecutor(machine, 'executeHookArgs', async () => (await import('./execute-hook.ts')).executeHookExecutor, null),
    lateExecutor(
      machine,
      'shellAllowlistPrecheckArgs',
      async () => (await import('./allowlist-prechecks.ts')).shellAllowlistPrecheckExecutor,
    ),
    lateExecutor(
      machine,
      'mcpAllowlistPrecheckArgs',
      async () => (await import('./allowlist-prechecks.ts')).mcpAllowlistPrecheckExecutor,
    ),
    lateExecutor(
      machine,
      'webFetchAllowlistPrecheckArgs',
      async () => (await import('./allowlist-prechecks.ts')).webFetchAllowlistPrecheckExecutor,
    ),
    lateExecutor(
      machine,
      'miniSweAgentBashArgs',
      async () => (await import('./shell.ts')).miniSweAgentBashExecutor,
      null,
    ),
    lateExecutor(machine, 'piReadArgs', async () => (await import('./pi/read.ts')).piReadExecutor, human),
    lateExecutor(machine, 'piBashArgs', async () => (await import('./pi/bash.ts')).piBashExecutor, null),
    lateExecutor(machine, 'piEditArgs', async () => (await import('./pi/edit.ts')).piEditExecutor, human),
    lateExecutor(machine, 'piWriteArgs', async () => (await import('./pi/write.ts')).piWriteExecutor, human),
    lateExecutor(machine, 'piGrepArgs', async () => (await import('./pi/grep.ts')).piGrepExecutor),
    lateExecutor(machine, 'piFindArgs', async () => (await import('./pi/find.ts')).piFindExecutor),
    lateExecutor(machine, 'piLsArgs', async () => (await import('./pi/ls.ts')).piLsExecutor),
  ];
}

function makePermission(root: string, options: NodeExecutorOptions): Permission {
  const file = options.permissionsFile ?? userRulesPath();
  const { user, project } = loadRules(root, file);
  return new Permission({
    mode: options.permission,
    ask: options.ask,
    root,
    rules: [...user, ...project],
    guarded: [projectRulesPath(root), file],
    denied: options.deniedCommands ?? [],
    keep: rule => {
      saveRule(root, file, 'allow', rule);
      options.onRuleKept?.(rule, file);
    },
  });
}

function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TANDEM_')));
}
