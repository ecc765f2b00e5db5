import { once } from 'node:events';
import net from 'node:net';
import { expect } from 'vitest';
import { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import { prepareServerProcess } from '../support/server-process.ts';
import { closeConnections, fetchWhole } from '../support/wire.ts';

const MIB = 1024 * 1024;
/** One message, as small as the config allows it to be with room for what attacks send (R8). */
const MESSAGE_BYTES = MIB;
/**
 * What a server may hold more than before an attack: the garbage of a Node process between two collections and the pages that its
 * allocator keeps. Attacks whose leak would be smaller are repeated, and must not grow.
 */
const SLACK_BYTES = 400 * MIB;

/** A server in a process of its own, to be attacked over raw sockets. */
export interface Siege {
  readonly url: string;
  /** A connection without any protocol on it. */
  connect(options?: { allowHalfOpen?: boolean }): Promise<RawSocket>;
  /** The memory that the server holds at present. */
  residentBytes(): number;
  /** Fails unless the server is as well as before: it answers, a turn works, it holds no more memory and logged no fault of its own. */
  expectWell(): Promise<void>;
  close(): Promise<void>;
}

/** A socket with all that came over it. */
export interface RawSocket {
  readonly socket: net.Socket;
  /** Bytes that came so far, one character each. */
  text(): string;
  /** Resolves once the other side is gone. */
  readonly closed: Promise<void>;
}

export async function startSiege(): Promise<Siege> {
  const provider = await startProvider({
    answers: ({ body }) =>
      body.messages.at(-1)!.role === 'tool' ? { text: 'done' } : { calls: [{ name: 'Read', args: { path: 'a.txt' } }] },
  });
  const server = await prepareServerProcess(provider.baseUrl, {
    limits: { messageBytes: MESSAGE_BYTES, placeholderSeconds: 1 },
  });
  await server.start();
  const { url } = server;
  const sockets = new Set<net.Socket>();
  const turn = async (transport: 'h1' | 'h2c') => {
    const peer = await new Peer({ url, transport }).turn('is all well?');
    expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);
  };
  for (let warming = 0; warming < 5; warming++) await turn(warming % 2 ? 'h2c' : 'h1');
  const atFirst = server.residentBytes();
  return {
    url,
    residentBytes: () => server.residentBytes(),
    async connect({ allowHalfOpen = false } = {}) {
      const { hostname, port } = new URL(url);
      const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen });
      sockets.add(socket);
      let text = '';
      socket.on('data', chunk => (text += chunk.toString('latin1')));
      socket.on('error', () => {}); // being cut off is what these connections are for
      const closed = new Promise<void>(resolve => socket.once('close', () => resolve(void sockets.delete(socket))));
      await once(socket, 'connect');
      return { socket, text: () => text, closed };
    },
    async expectWell() {
      closeConnections();
      expect((await fetchWhole({ url, path: '/healthz', method: 'GET' })).status).toBe(200);
      await turn('h1');
      await turn('h2c');
      for (const socket of sockets) socket.destroy();
      // memory comes back when the collector has run: turns give it reasons to
      for (let turns = 0; turns < 30 && server.residentBytes() > atFirst + SLACK_BYTES; turns++) await turn('h1');
      expect(server.residentBytes() - atFirst).toBeLessThan(SLACK_BYTES);
      const faults = server.logLines().filter(line => !line.startsWith('{') || /"level":"(?:error|fatal)"/.test(line));
      expect(faults.filter(line => !/^(?:tandem |tandem: Config from )/i.test(line))).toEqual([]);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      closeConnections();
      await server.close();
      await provider.close();
    },
  };
}

/** A request as bytes: head and body with the headers a stream or an append needs. */
export function rawRequest(path: string, type: string, body: Uint8Array, more: readonly string[] = []): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'authorization: Bearer test-token',
    `content-type: ${type}`,
    'connect-protocol-version: 1',
    `content-length: ${body.length}`,
    ...more,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

/** How often a text stands in another. */
export const countOf = (text: string, part: string): number => text.split(part).length - 1;
