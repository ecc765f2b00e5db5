import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerMcp } from './mcp-answers.ts';
import type { McpMessage } from './mcp-answers.ts';

/** An MCP server over HTTP on loopback, of the streamable or the older kind; with a token it wants it as bearer. */
export async function startMcpHttpServer(options: { kind: 'streamable' | 'sse'; token?: string }) {
  const streams = new Set<http.ServerResponse>();
  const server = http.createServer((request, response) => {
    if (options.token !== undefined && request.headers.authorization !== `Bearer ${options.token}`) {
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('sign in');
      return;
    }
    const body: Buffer[] = [];
    request.on('data', (chunk: Buffer) => body.push(chunk));
    request.on('end', () => void answer(request, response, Buffer.concat(body).toString('utf8')));
  });
  async function answer(request: http.IncomingMessage, response: http.ServerResponse, body: string): Promise<void> {
    if (options.kind === 'sse' && request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /messages\n\n');
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    if (request.method !== 'POST' || (options.kind === 'sse' && request.url !== '/messages')) {
      response.writeHead(405).end();
      return;
    }
    const message = await answerMcp(JSON.parse(body) as McpMessage);
    if (options.kind === 'sse') {
      response.writeHead(202).end();
      for (const stream of streams) if (message !== undefined) stream.write(`data: ${JSON.stringify(message)}\n\n`);
      return;
    }
    if (message === undefined) response.writeHead(202).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close(): Promise<void> {
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}
