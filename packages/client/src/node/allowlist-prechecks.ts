import { create } from '@bufbuild/protobuf';
import {
  McpAllowlistPrecheckResultSchema,
  ShellAllowlistPrecheckResultSchema,
  WebFetchAllowlistPrecheckResultSchema,
} from '@tandem/protocol/agent';
import type { Executor } from '../executor.ts';
import { addressOf } from './fetch.ts';
import type { Machine } from './machine.ts';
import type { Judgement } from './permission.ts';

/** Tells whether a command would run without a question. Nothing is asked and nothing runs. */
export function shellAllowlistPrecheckExecutor(machine: Machine): Executor<'shellAllowlistPrecheckArgs'> {
  const { workspace, permission } = machine;
  return {
    kind: 'shellAllowlistPrecheckArgs',
    async run({ command, workingDirectory: folder }) {
      const workingDirectory = workspace.resolve(folder);
      const inside = workspace.contains(await workspace.real(workingDirectory));
      const allowlisted = isAllowed(permission.judgeCommand({ command, workingDirectory, inside, denied: [] }));
      return {
        case: 'shellAllowlistPrecheckResult',
        value: create(ShellAllowlistPrecheckResultSchema, { allowlisted }),
      };
    },
  };
}

/** Tells whether an MCP tool would be called without a question. A server that does not exist is never called. */
export function mcpAllowlistPrecheckExecutor({ mcp, permission }: Machine): Executor<'mcpAllowlistPrecheckArgs'> {
  return {
    kind: 'mcpAllowlistPrecheckArgs',
    run({ providerIdentifier: server, toolName: tool }) {
      const allowlisted = mcp.names.includes(server) && isAllowed(permission.judgeMcp({ server, tool, args: {} }));
      const value = create(McpAllowlistPrecheckResultSchema, { allowlisted });
      return Promise.resolve({ case: 'mcpAllowlistPrecheckResult', value });
    },
  };
}

/** Tells whether a page would be fetched without a question. What cannot be looked up is not. */
export function webFetchAllowlistPrecheckExecutor(machine: Machine): Executor<'webFetchAllowlistPrecheckArgs'> {
  return {
    kind: 'webFetchAllowlistPrecheckArgs',
    async run({ url }) {
      const access = await addressOf(url, machine.env).catch(() => undefined); // then the fetch itself will say why
      const allowlisted = access !== undefined && isAllowed(machine.permission.judgePage(access));
      const value = create(WebFetchAllowlistPrecheckResultSchema, { allowlisted });
      return { case: 'webFetchAllowlistPrecheckResult', value };
    },
  };
}

function isAllowed(judgement: Judgement): boolean {
  return 'allowed' in judgement && judgement.allowed;
}
