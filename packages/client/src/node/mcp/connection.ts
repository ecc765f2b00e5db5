import type { Client, Tool, Transport } from '@modelcontextprotocol/client';
import { messageOf } from '../workspace.ts';
import type { McpServerConfig, NamedMcpServer } from './server-config.ts';
import { StdioTransport } from './stdio-transport.ts';

/** Connecting and listing the tools may take this long. */
const CONNECT_DEADLINE = 20_000;

/** One call, when nothing shows progress; a server that reports progress is given more. */
const CALL_DEADLINE = 300_000;

/** A server that failed is tried again no sooner than this. */
const RETRY_PAUSE = 5_000;

/** What an MCP server offers, once it is connected. */
export interface ConnectedMcpServer {
  client: Client;
  tools: Tool[];
  instructions: string;
}

/** A server could not be used. */
export class McpFailure extends Error {
  /** It wants a sign-in, which this client does not do. */
  readonly needsAuth: boolean;

  constructor(message: string, options: { needsAuth?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.needsAuth = options.needsAuth ?? false;
  }
}

type State =
  | { is: 'idle' }
  | { is: 'connecting'; connected: Promise<ConnectedMcpServer> }
  | { is: 'connected'; server: ConnectedMcpServer }
  | { is: 'failed'; failure: McpFailure; at: number };

/**
 * One MCP server. It is idle until first needed, then connecting, then connected or failed; a server that crashes is idle again and is
 * started anew by the next call, a failed one too after a pause. Calls share one connection.
 */
export class McpConnection {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly fromWorkspace: boolean;
  private readonly env: NodeJS.ProcessEnv;
  private state: State = { is: 'idle' };
  /** While it connects. */
  private opening: Client | undefined;

  constructor(server: NamedMcpServer, env: NodeJS.ProcessEnv) {
    this.name = server.name;
    this.config = server.config;
    this.fromWorkspace = server.fromWorkspace;
    this.env = env;
  }

  /** In one word, for the state of all servers. */
  get status(): 'idle' | 'connecting' | 'connected' | 'failed' {
    return this.state.is;
  }

  /** The tools, when they are known now. */
  get known(): ConnectedMcpServer | undefined {
    return this.state.is === 'connected' ? this.state.server : undefined;
  }

  /** The connection, made when there is none. Rejects with an McpFailure, or with the reason of an abort; then it goes on for others. */
  async connect(signal?: AbortSignal): Promise<ConnectedMcpServer> {
    if (signal === undefined) return await this.share();
    signal.throwIfAborted();
    const shared = this.share();
    return await new Promise((resolve, reject) => {
      const onAbort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort, { once: true });
      void shared.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  private async share(): Promise<ConnectedMcpServer> {
    if (this.state.is === 'connected') return this.state.server;
    if (this.state.is === 'connecting') return await this.state.connected;
    if (this.state.is === 'failed' && Date.now() - this.state.at < RETRY_PAUSE) throw this.state.failure;
    const connected = this.open();
    this.state = { is: 'connecting', connected };
    try {
      const server = await connected;
      // It may have ended again while its tools were read.
      if (this.state.is === 'connecting') this.state = { is: 'connected', server };
      return server;
    } catch (error) {
      const failure = error instanceof McpFailure ? error : new McpFailure(messageOf(error), { cause: error });
      this.state = { is: 'failed', failure, at: Date.now() };
      throw failure;
    }
  }

  /** Does one thing with the server, under the deadline of a call. Rejects with what the server or the connection said. */
  async use<T>(
    signal: AbortSignal,
    work: (
      client: Client,
      options: { signal: AbortSignal; timeout: number; resetTimeoutOnProgress: boolean },
    ) => Promise<T>,
  ): Promise<T> {
    const { client } = await this.connect(signal);
    signal.throwIfAborted();
    return await work(client, { signal, timeout: CALL_DEADLINE, resetTimeoutOnProgress: true });
  }

  async close(): Promise<void> {
    const { state } = this;
    this.state = { is: 'idle' };
    if (state.is === 'connected') await state.server.client.close();
    if (state.is === 'connecting') {
      // One that never answers is not waited for.
      await this.opening?.close();
      await state.connected.then(
        server => server.client.close(),
        () => undefined, // it never came to be
      );
    }
  }

  private async open(): Promise<ConnectedMcpServer> {
    if ('command' in this.config) return await this.openOver(stdioTransport(this.config, this.env));
    const { config } = this;
    const { StreamableHTTPClientTransport, SSEClientTransport } = await import('@modelcontextprotocol/client');
    const init = { requestInit: { headers: config.headers ?? {} } };
    // The older transport is what some servers still speak; the platform's library marks it as outdated for that.
    const sse = () => new SSEClientTransport(new URL(config.url), init);
    if (config.type === 'sse') return await this.openOver(sse());
    try {
      return await this.openOver(
        new StreamableHTTPClientTransport(new URL(config.url), { ...init, fetch: withoutStandingStream }),
      );
    } catch (error) {
      // Servers of the older kind answer the first POST with one of these.
      const status = statusOf(error);
      if (config.type === 'http' || (status !== 404 && status !== 405 && status !== 400)) throw error;
      return await this.openOver(sse());
    }
  }

  private async openOver(transport: Transport): Promise<ConnectedMcpServer> {
    const { Client } = await import('@modelcontextprotocol/client');
    const client: Client = new Client(
      { name: 'tandem', version: '0.1.0' },
      { listChanged: { tools: { onChanged: (_error, tools) => this.replaceTools(client, tools) } } },
    );
    client.onclose = () => this.lost(client);
    // Problems of single messages; what matters of them ends the connection or the call.
    client.onerror = () => undefined;
    const options = { timeout: CONNECT_DEADLINE };
    this.opening = client;
    try {
      await client.connect(transport, options);
      const tools =
        client.getServerCapabilities()?.tools === undefined ? [] : (await client.listTools({}, options)).tools;
      return { client, tools, instructions: client.getInstructions() ?? '' };
    } catch (error) {
      await client.close().catch(() => undefined); // it may never have been open
      throw this.failureOf(error, transport);
    } finally {
      this.opening = undefined;
    }
  }

  private replaceTools(client: Client, tools: Tool[] | null): void {
    const server = this.known;
    if (server?.client === client && tools !== null) server.tools = tools;
  }

  private lost(client: Client): void {
    if (this.known?.client === client) this.state = { is: 'idle' };
  }

  private failureOf(error: unknown, transport: Transport): McpFailure {
    const status = statusOf(error);
    const name = error instanceof Error ? error.constructor.name : '';
    if (status === 401 || name === 'UnauthorizedError') {
      const words = `the MCP server ${this.name} wants a sign-in, which this client does not do yet; give it a token in its headers`;
      return new McpFailure(words, { needsAuth: true, cause: error });
    }
    const words = transport instanceof StdioTransport ? transport.complaints.trim() : '';
    const message = `the MCP server ${this.name} cannot be used: ${messageOf(error)}${words === '' ? '' : ` (${words})`}`;
    return new McpFailure(message, { cause: Object.assign(new Error(messageOf(error)), { status }) });
  }
}

/** The environment of a server: what programs need to run, and what its entry says. Nothing else of ours, where keys may be. */
const INHERITED = [
  'HOME',
  'LANG',
  'LC_ALL',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TERM',
  'TMPDIR',
  'TZ',
  'USER',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'SYSTEMROOT',
  'APPDATA',
  'LOCALAPPDATA',
  'PATHEXT',
  'TEMP',
  'USERPROFILE',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
];

function stdioTransport(config: Extract<McpServerConfig, { command: string }>, env: NodeJS.ProcessEnv): StdioTransport {
  const inherited = Object.fromEntries(INHERITED.flatMap(name => (env[name] === undefined ? [] : [[name, env[name]]])));
  return new StdioTransport({
    command: config.command,
    args: config.args ?? [],
    env: { ...inherited, ...config.env },
    cwd: config.cwd ?? process.cwd(),
  });
}

/**
 * The fetch of the streamable transport, without the stream that stands open only for what a server says unasked: it would keep a process
 * alive that has nothing else to do. The answer is the one of a server that offers no such stream.
 */
async function withoutStandingStream(url: string | URL, init?: RequestInit): Promise<Response> {
  const isStanding = (init?.method ?? 'GET') === 'GET' && !new Headers(init?.headers).has('last-event-id');
  return isStanding ? new Response(null, { status: 405 }) : await fetch(url, init);
}

function statusOf(error: unknown): number | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { status, code, data } = at as { status?: unknown; code?: unknown; data?: { status?: unknown } };
    for (const number of [status, data?.status, code])
      if (typeof number === 'number' && number >= 100 && number < 600) return number;
  }
  return undefined;
}
