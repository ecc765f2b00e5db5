import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ListMcpResourcesExecResultSchema, ListMcpResourcesExecResult_McpResourceSchema } from '@tandem/protocol/agent';
import type { ListMcpResourcesExecResult_McpResource } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../executor.ts';
import type { Machine } from './machine.ts';
import type { McpConnection } from './mcp/connection.ts';
import { messageOf } from './workspace.ts';

type Result = NonNullable<MessageInitShape<typeof ListMcpResourcesExecResultSchema>['result']>;

/** Resources told at most; a server with more has to be asked by its own tools. */
const RESOURCES_CAP = 1_000;

/** Lists the resources of one MCP server, or of all. A server that fails spoils only its own list, unless it was the one asked for. */
export function listMcpResourcesExecutor(machine: Machine): Executor<'listMcpResourcesExecArgs'> {
  return {
    kind: 'listMcpResourcesExecArgs',
    ...(machine.permission.waitsForHuman ? { deadlineMs: null } : {}),
    async run({ server }, { signal }): Promise<ExecAnswer> {
      const result = await listResources(machine, server ?? '', signal);
      const value = create(ListMcpResourcesExecResultSchema, { result });
      return { case: 'listMcpResourcesExecResult', value };
    },
  };
}

async function listResources({ mcp, permission }: Machine, server: string, signal: AbortSignal): Promise<Result> {
  if (permission.mode === 'read-only')
    return { case: 'rejected', value: { reason: 'this run is read-only, so no MCP server is used' } };
  if (server !== '' && !mcp.names.includes(server))
    return { case: 'error', value: { error: `there is no MCP server ${server}; there are: ${mcp.names.join(', ')}` } };
  const names = server === '' ? mcp.names : [server];
  const lists = await Promise.allSettled(
    names.map(async name => {
      const connection = await mcp.find(name, signal);
      return connection === undefined ? [] : await resourcesOf(connection, signal);
    }),
  );
  signal.throwIfAborted();
  const failed = lists.find(list => list.status === 'rejected');
  const resources = lists.flatMap(list => (list.status === 'fulfilled' ? list.value : []));
  if (failed !== undefined && resources.length === 0)
    return { case: 'error', value: { error: messageOf(failed.reason) } };
  return { case: 'success', value: { resources: resources.slice(0, RESOURCES_CAP) } };
}

async function resourcesOf(
  connection: McpConnection,
  signal: AbortSignal,
): Promise<ListMcpResourcesExecResult_McpResource[]> {
  return await connection.use(signal, async (client, options) => {
    if (client.getServerCapabilities()?.resources === undefined) return [];
    const { resources } = await client.listResources({}, options);
    return resources.map(({ uri, name, description, mimeType }) =>
      create(ListMcpResourcesExecResult_McpResourceSchema, {
        uri,
        name,
        server: connection.name,
        ...(description === undefined ? {} : { description }),
        ...(mimeType === undefined ? {} : { mimeType }),
      }),
    );
  });
}
