import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ReadMcpResourceExecResultSchema } from '@tandem/protocol/agent';
import type { ReadMcpResourceExecArgs } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../executor.ts';
import type { Machine } from './machine.ts';
import { decodeBase64 } from './mcp/content.ts';
import { messageOf } from './workspace.ts';
import { writeFileFor } from './write.ts';

type Result = NonNullable<MessageInitShape<typeof ReadMcpResourceExecResultSchema>['result']>;

/** Longest resource sent; a longer one has to be downloaded. */
const RESOURCE_CAP = 8 * 1024 * 1024;

/** JSON-RPC's answer of MCP servers about a resource that they do not have. */
const NOT_FOUND = -32002;

/** Reads one resource of an MCP server; with a download path into a file of the workspace instead, under the leave that a write needs. */
export function readMcpResourceExecutor(machine: Machine): Executor<'readMcpResourceExecArgs'> {
  return {
    kind: 'readMcpResourceExecArgs',
    ...(machine.permission.waitsForHuman ? { deadlineMs: null } : {}),
    async run(args, { signal }): Promise<ExecAnswer> {
      const result = await readResource(machine, args, signal);
      return { case: 'readMcpResourceExecResult', value: create(ReadMcpResourceExecResultSchema, { result }) };
    },
  };
}

async function readResource(machine: Machine, args: ReadMcpResourceExecArgs, signal: AbortSignal): Promise<Result> {
  const { uri } = args;
  if (machine.permission.mode === 'read-only')
    return { case: 'rejected', value: { uri, reason: 'this run is read-only, so no MCP server is used' } };
  try {
    const connection = await machine.mcp.find(args.server, signal);
    if (connection === undefined) {
      const error = `there is no MCP server ${args.server}; there are: ${machine.mcp.names.join(', ')}`;
      return { case: 'error', value: { uri, error } };
    }
    const { contents } = await connection.use(signal, (client, options) => client.readResource({ uri }, options));
    const [first] = contents;
    if (first === undefined) return { case: 'notFound', value: { uri } };
    const isText = 'text' in first;
    const text = contents.map(one => ('text' in one ? one.text : '')).join('');
    const bytes = isText ? Buffer.from(text, 'utf8') : (decodeBase64(first.blob) ?? new Uint8Array());
    const common = { uri, ...(first.mimeType === undefined ? {} : { mimeType: first.mimeType }) };
    if (args.downloadPath !== undefined && args.downloadPath !== '')
      return await download(machine, { ...common, path: args.downloadPath, bytes, signal });
    if (bytes.length > RESOURCE_CAP)
      return {
        case: 'error',
        value: {
          uri,
          error: `the resource has ${bytes.length} bytes, more than ${RESOURCE_CAP}; give a download path`,
        },
      };
    const content = isText ? { case: 'text' as const, value: text } : { case: 'blob' as const, value: bytes };
    return { case: 'success', value: { ...common, content } };
  } catch (error) {
    signal.throwIfAborted();
    if ((error as { code?: unknown }).code === NOT_FOUND) return { case: 'notFound', value: { uri } };
    return { case: 'error', value: { uri, error: messageOf(error) } };
  }
}

async function download(
  machine: Machine,
  file: { uri: string; mimeType?: string; path: string; bytes: Uint8Array; signal: AbortSignal },
): Promise<Result> {
  const { uri, path, bytes, signal, ...common } = file;
  const written = await writeFileFor(machine, { path, bytes, signal });
  if ('refused' in written) return { case: 'rejected', value: { uri, reason: written.refused } };
  return { case: 'success', value: { uri, ...common, downloadPath: written.path } };
}
