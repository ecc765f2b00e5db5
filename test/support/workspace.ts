import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ExecClientMessageSchema } from '@tandem/protocol/agent';

type Answer = MessageInitShape<typeof ExecClientMessageSchema>['message'];

/** What the scripted client has: files in memory, answered in the shapes of a real one. Shells are scripted by command. */
export class Workspace {
  readonly folder = '/home/dev/project';
  readonly files = new Map<string, string>([['a.txt', 'hi file\nsecond line\n']]);
  /** Output and exit code by command; an unknown one prints its own text. */
  readonly commands = new Map<string, { stdout?: string; stderr?: string; code?: number }>();
  /** What MCP tools answer, by `provider/tool`. */
  readonly mcp = new Map<string, (args: Record<string, unknown>) => string>();
  /** More of the request context. */
  context: Record<string, unknown> = {};
  /** Every exec that was really done, in order: `write a.txt`, `shell ls`. */
  readonly done: string[] = [];

  constructor(files: Record<string, string> = {}) {
    for (const [name, text] of Object.entries(files)) this.files.set(name, text);
  }

  #name(path: string): string {
    return path.startsWith(`${this.folder}/`) ? path.slice(this.folder.length + 1) : path;
  }

  answer(kind: string, args: any): Answer[] {
    const path = `${this.folder}/${this.#name(args.path ?? '')}`;
    const name = this.#name(args.path ?? '');
    const text = this.files.get(name);
    switch (kind) {
      case 'requestContextArgs':
        return [
          {
            case: 'requestContextResult',
            value: {
              result: {
                case: 'success',
                value: {
                  requestContext: {
                    env: {
                      osVersion: 'linux 6.1',
                      shell: 'bash',
                      workspacePaths: [this.folder],
                      terminalsFolder: `${this.folder}/.terminals`,
                      timeZone: 'UTC',
                      processWorkingDirectory: this.folder,
                    },
                    gitRepoInfoComplete: true,
                    ...(this.context as object),
                  },
                },
              },
            },
          },
        ];
      case 'readArgs': {
        this.done.push(`read ${name}`);
        if (text === undefined)
          return [{ case: 'readResult', value: { result: { case: 'fileNotFound', value: { path } } } }];
        const lines = text.split('\n');
        const from = Math.max(0, (args.offset ?? 1) - 1);
        const ranged = args.offset !== undefined || args.limit !== undefined;
        const content = ranged
          ? lines.slice(from, args.limit === undefined ? undefined : from + args.limit).join('\n')
          : text;
        return [
          {
            case: 'readResult',
            value: {
              result: {
                case: 'success',
                value: {
                  path,
                  output: { case: 'content', value: content },
                  totalLines: lines.length,
                  fileSize: BigInt(text.length),
                  rangeApplied: ranged,
                },
              },
            },
          },
        ];
      }
      case 'writeArgs': {
        this.done.push(`write ${name}`);
        this.files.set(name, args.fileText);
        const linesCreated = args.fileText.split('\n').length;
        return [
          {
            case: 'writeResult',
            value: { result: { case: 'success', value: { path, linesCreated, fileSize: args.fileText.length } } },
          },
        ];
      }
      case 'deleteArgs':
        this.done.push(`delete ${name}`);
        if (!this.files.delete(name))
          return [{ case: 'deleteResult', value: { result: { case: 'fileNotFound', value: { path } } } }];
        return [{ case: 'deleteResult', value: { result: { case: 'success', value: { path, deletedFile: path } } } }];
      case 'lsArgs':
        this.done.push(`ls ${name}`);
        return [
          {
            case: 'lsResult',
            value: {
              result: {
                case: 'success',
                value: {
                  directoryTreeRoot: {
                    absPath: this.folder,
                    childrenFiles: [...this.files.keys()].map(file => ({ name: file })),
                    childrenWereProcessed: true,
                  },
                },
              },
            },
          },
        ];
      case 'shellStreamArgs': {
        this.done.push(`shell ${args.command}`);
        const { stdout = `${args.command}\n`, stderr = '', code = 0 } = this.commands.get(args.command) ?? {};
        const events: Answer[] = [{ case: 'shellStream', value: { event: { case: 'start', value: {} } } }];
        if (stdout) events.push({ case: 'shellStream', value: { event: { case: 'stdout', value: { data: stdout } } } });
        if (stderr) events.push({ case: 'shellStream', value: { event: { case: 'stderr', value: { data: stderr } } } });
        return [
          ...events,
          { case: 'shellStream', value: { event: { case: 'exit', value: { code, cwd: this.folder } } } },
        ];
      }
      case 'mcpArgs': {
        const tool = this.mcp.get(`${args.providerIdentifier || args.serverIdentifier}/${args.toolName}`);
        this.done.push(`mcp ${args.toolName}`);
        if (!tool)
          return [
            {
              case: 'mcpResult',
              value: {
                result: { case: 'toolNotFound', value: { name: args.toolName, availableTools: [...this.mcp.keys()] } },
              },
            },
          ];
        const content = [{ content: { case: 'text' as const, value: { text: tool(args.args) } } }];
        return [{ case: 'mcpResult', value: { result: { case: 'success', value: { content } } } }];
      }
      default:
        throw new Error(`the scripted workspace cannot do ${kind}`);
    }
  }
}
