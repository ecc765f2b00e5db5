import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { EnvelopeReader, encodeEndStream, encodeEnvelope } from '@tandem/protocol';
import { AgentClientMessageSchema, AgentServerMessageSchema } from '@tandem/protocol/agent';
import type { AgentClientMessage } from '@tandem/protocol/agent';
import http2 from 'node:http2';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** One `Run` call as the fake server sees it. */
export interface FakeCall {
  headers: http2.IncomingHttpHeaders;
  /** What came up so far. */
  messages: AgentClientMessage['message'][];
  /** Resolves with the next message of a kind. */
  next(kind: AgentClientMessage['message']['case']): Promise<AgentClientMessage['message']>;
  send(message: NonNullable<MessageInitShape<typeof AgentServerMessageSchema>['message']>): void;
  end(): void;
  stream: ServerHttp2Stream;
  session: ServerHttp2Session;
}

/** A server of `Run` over HTTP/2, without TLS or with it. */
export async function startFakeCallServer(
  script: (call: FakeCall, index: number) => void | Promise<void>,
  tls?: { key: string; cert: string },
) {
  const server = tls === undefined ? http2.createServer() : http2.createSecureServer({ ...tls, allowHTTP1: false });
  const sessions = new Set<ServerHttp2Session>();
  let count = 0;
  server.on('session', session => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => undefined);
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined);
    if (headers[':path'] !== '/agent.v1.AgentService/Run') {
      stream.respond({ ':status': 404 }, { endStream: true });
      return;
    }
    const reader = new EnvelopeReader({ maxBytes: 1024 * 1024 });
    const waiting: { kind: string | undefined; resolve: (message: AgentClientMessage['message']) => void }[] = [];
    const call: FakeCall = {
      headers,
      messages: [],
      next(kind) {
        const found = call.messages.find(message => message.case === kind);
        return found === undefined ? new Promise(resolve => waiting.push({ kind, resolve })) : Promise.resolve(found);
      },
      send(message) {
        if (!stream.destroyed)
          stream.write(
            encodeEnvelope(toBinary(AgentServerMessageSchema, create(AgentServerMessageSchema, { message }))),
          );
      },
      end: () => void stream.end(encodeEnvelope(encodeEndStream(undefined), 2)),
      stream,
      session: stream.session as ServerHttp2Session,
    };
    stream.on('data', (chunk: Buffer) => {
      for (const envelope of reader.push(chunk)) {
        const { message } = fromBinary(AgentClientMessageSchema, envelope.payload.slice());
        call.messages.push(message);
        const index = waiting.findIndex(({ kind }) => kind === message.case);
        if (index >= 0) waiting.splice(index, 1)[0]!.resolve(message);
      }
    });
    stream.respond({ ':status': 200, 'content-type': 'application/connect+proto' });
    void script(call, count++);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    close(): Promise<void> {
      for (const session of sessions) session.destroy();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}
