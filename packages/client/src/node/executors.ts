import type { Executors } from '../executor.ts';
import {
  mcpAllowlistPrecheckExecutor,
  shellAllowlistPrecheckExecutor,
  webFetchAllowlistPrecheckExecutor,
} from './allowlist-prechecks.ts';
import { backgroundShellSpawnExecutor } from './background-shell-spawn.ts';
import { deleteExecutor } from './delete.ts';
import { fetchExecutor } from './fetch.ts';
import { diagnosticsExecutor } from './diagnostics.ts';
import type { Diagnose } from './diagnostics.ts';
import { executeHookExecutor } from './execute-hook.ts';
import type { OnFileChange } from './file-change.ts';
import { forceBackgroundShellExecutor } from './force-background-shell.ts';
import { gitDiffExecutor } from './git-diff.ts';
import { grepExecutor } from './grep.ts';
import { listMcpResourcesExecutor } from './list-mcp-resources.ts';
import { lsExecutor } from './ls.ts';
import type { Machine } from './machine.ts';
import { mcpExecutor } from './mcp.ts';
import { mcpStateExecutor } from './mcp-state.ts';
import { McpServers } from './mcp/servers.ts';
import type { McpServerConfig } from './mcp/server-config.ts';
import { Permission } from './permission.ts';
import { loadRules, projectRulesPath, saveRule, userRulesPath } from './permission-file.ts';
import type { Ask } from './permission-question.ts';
import type { PermissionMode } from './permission.ts';
import { piBashExecutor } from './pi/bash.ts';
import { piEditExecutor } from './pi/edit.ts';
import { piFindExecutor } from './pi/find.ts';
import { piGrepExecutor } from './pi/grep.ts';
import { piLsExecutor } from './pi/ls.ts';
import { piReadExecutor } from './pi/read.ts';
import { piWriteExecutor } from './pi/write.ts';
import { readMcpResourceExecutor } from './read-mcp-resource.ts';
import { readExecutor } from './read.ts';
import { requestContextExecutor } from './request-context.ts';
import { Shells } from './shell-job.ts';
import { miniSweAgentBashExecutor, shellExecutor } from './shell.ts';
import { shellStreamExecutor } from './shell-stream.ts';
import { terminalsFolder } from './state-folder.ts';
import { TerminalFolder } from './terminal-folder.ts';
import { Workspace } from './workspace.ts';
import { writeShellStdinExecutor } from './write-shell-stdin.ts';
import { writeExecutor } from './write.ts';

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
  /** Commands that an administrator denies, besides those that the server names; see `deniedBecause`. */
  deniedCommands?: readonly string[];
}

/** Executors for this machine, one a kind. Throws when the workspace does not exist, or a file of rules cannot be understood. */
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
  return [
    requestContextExecutor(machine),
    readExecutor(machine),
    writeExecutor(machine),
    deleteExecutor(machine),
    grepExecutor(machine),
    lsExecutor(machine),
    shellStreamExecutor(machine),
    shellExecutor(machine),
    backgroundShellSpawnExecutor(machine),
    writeShellStdinExecutor(machine),
    forceBackgroundShellExecutor(machine),
    mcpExecutor(machine),
    mcpStateExecutor(machine),
    listMcpResourcesExecutor(machine),
    readMcpResourceExecutor(machine),
    fetchExecutor(machine),
    gitDiffExecutor(machine),
    diagnosticsExecutor(machine),
    executeHookExecutor(machine),
    shellAllowlistPrecheckExecutor(machine),
    mcpAllowlistPrecheckExecutor(machine),
    webFetchAllowlistPrecheckExecutor(machine),
    miniSweAgentBashExecutor(machine),
    piReadExecutor(machine),
    piBashExecutor(machine),
    piEditExecutor(machine),
    piWriteExecutor(machine),
    piGrepExecutor(machine),
    piFindExecutor(machine),
    piLsExecutor(machine),
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
    keep: rule => saveRule(root, file, 'allow', rule),
  });
}

function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TANDEM_')));
}
