import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call as it went over the wire: both bodies byte for byte, still framed and packed. */
export interface Capture {
  readonly path: string;
  readonly up: Buffer;
  readonly down: Buffer;
}

/** Stands between a client and a server on HTTP/1.1 and keeps what passes. */
export interface Recorder {
  readonly url: string;
  readonly captures: readonly Capture[];
  close(): Promise<void>;
}

export async function startRecorder(target: string): Promise<Recorder> {
  const captures: Capture[] = [];
  const server = createServer((incoming, outgoing) => {
    const [up, down]: [Buffer[], Buffer[]] = [[], []];
    const { method, url: path = '', headers } = incoming;
    const onward = request(new URL(path, target), { method, headers: { ...headers, host: new URL(target).host } });
    onward.on('response', response => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      outgoing.flushHeaders();
      response.on('data', (piece: Buffer) => {
        down.push(piece);
        outgoing.write(piece);
      });
      response.on('end', () => {
        captures.push({ path, up: Buffer.concat(up), down: Buffer.concat(down) });
        outgoing.end();
      });
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.on('data', (piece: Buffer) => {
      up.push(piece);
      onward.write(piece);
    });
    incoming.on('end', () => onward.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    captures,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
