import type { JsonObject } from '@bufbuild/protobuf';

/** What a human is asked before something is done. What it shows is what runs. */
export interface PermissionQuestion {
  kind: 'read' | 'write' | 'delete' | 'shell' | 'fetch' | 'mcp' | 'mcp-server';
  /** The real path that would be read or changed. */
  path?: string;
  /** The whole text that would be written there; absent where it is no text. */
  contents?: string;
  /** The command as it would be given to the shell, and the folder it would run in; for `mcp-server` the program with its arguments. */
  command?: string;
  workingDirectory?: string;
  /** The address of `fetch`, or of an `mcp-server` elsewhere. */
  url?: string;
  /** The MCP server, its tool, and the arguments of the call. */
  server?: string;
  tool?: string;
  args?: JsonObject;
  /** Why it is asked although `auto` would allow the ordinary case. */
  reason?: string;
  /** The rule that the answers `conversation` and `always` would add; absent where leave is given for this once only. */
  rule?: string;
}

/** Leave for this once (also `true`), for as long as these executors live, or for good in this workspace; or none (also `false`). */
export type PermissionAnswer = boolean | 'once' | 'conversation' | 'always' | 'no';

/** Asks a human. The signal withdraws the question: what it was about is not wanted any more. */
export type Ask = (question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer>;

/** A question in plain words: what would be done, and to what. Nothing that runs is left out. */
export function describeQuestion(question: PermissionQuestion): { action: string; subject: string } {
  const { kind, path = '', command = '', workingDirectory = '', url = '', server = '', tool = '' } = question;
  switch (kind) {
    case 'read':
      return { action: 'Read', subject: path };
    case 'write':
      return { action: 'Write', subject: path };
    case 'delete':
      return { action: 'Delete', subject: path };
    case 'shell':
      return { action: `Run in ${workingDirectory}`, subject: command };
    case 'fetch':
      return { action: 'Fetch', subject: url };
    case 'mcp':
      return { action: `Call the MCP tool ${server}/${tool}`, subject: JSON.stringify(question.args ?? {}, null, 2) };
    case 'mcp-server':
      return url === ''
        ? { action: `Start the MCP server ${server} in ${workingDirectory}`, subject: command }
        : { action: `Connect to the MCP server ${server}`, subject: url };
  }
}
