import type { McpServers } from './mcp/servers.ts';
import type { Diagnose } from './diagnostics.ts';
import type { OnFileChange } from './file-change.ts';
import type { Permission } from './permission.ts';
import type { Shells } from './shell-job.ts';
import type { TerminalFolder } from './terminal-folder.ts';
import type { Workspace } from './workspace.ts';

/** What the executors of this machine share. */
export interface Machine {
  workspace: Workspace;
  permission: Permission;
  /** Where the output of shells is kept; made when first needed. */
  terminals: TerminalFolder;
  /** Commands under way that questions can name. */
  shells: Shells;
  /** The MCP servers of the workspace; connected when first needed. */
  mcp: McpServers;
  /** Is told of each change of a file before it is made. */
  onFileChange?: OnFileChange | undefined;
  /** Finds problems in files, instead of the workspace's own checkers. */
  diagnose?: Diagnose | undefined;
  /** Gives commands that are to be written to a terminal of their own. */
  pty?: boolean | undefined;
  /** The environment of shells. */
  env: NodeJS.ProcessEnv;
}
