import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { listen } from './listen.ts';
import type { Listener } from './listen.ts';

const SILENCE = 120;
let listener: Listener | undefined;

/** A port whose every request is answered with `ok`, and a connection to it. */
async function connect(): Promise<{ socket: net.Socket; text: () => string; closed: Promise<unknown> }> {
  listener = await listen({
    host: '127.0.0.1',
    port: 0,
    handler: (request, response) => {
      request.resume();
      response.end('ok');
    },
    onError() {},
    silenceMs: SILENCE,
  });
  const socket = net.connect(listener.port, '127.0.0.1');
  let text = '';
  socket.on('data', chunk => (text += chunk.toString('latin1')));
  socket.on('error', () => {});
  return { socket, text: () => text, closed: once(socket, 'close') };
}

afterEach(() => listener?.destroy());

describe('a connection that is slow', () => {
  it('to say anything is closed', async () => {
    const { closed, text } = await connect();
    await closed;
    expect(text()).toBe('');
  });

  it('to finish a head is told so and closed, however it drips', async () => {
    const { socket, closed, text } = await connect();
    socket.write('POST /x HTTP/1.1\r\nhost: a\r\n');
    const drip = setInterval(() => socket.write('x: y\r\n'), 10);
    await closed.finally(() => clearInterval(drip));
    expect(text()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('with its second head is closed as with the first', async () => {
    const { socket, closed, text } = await connect();
    socket.write('GET /x HTTP/1.1\r\nhost: a\r\n\r\nGET /y HTTP/1.1\r\n');
    await closed;
    expect(text()).toMatch(/^HTTP\/1\.1 200 [^]*ok[^]*HTTP\/1\.1 408 /);
  });
});

it('a head that is too large is answered with 431', async () => {
  const { socket, closed, text } = await connect();
  socket.write(`GET /x HTTP/1.1\r\nhost: a\r\nlarge: ${'x'.repeat(64 * 1024)}\r\n\r\n`);
  await closed;
  expect(text()).toMatch(/^HTTP\/1\.1 431 /);
});

it('closing lets idle connections go and then resolves', async () => {
  const { socket, closed, text } = await connect();
  socket.write('GET /x HTTP/1.1\r\nhost: a\r\n\r\n');
  while (!text().includes('ok')) await once(socket, 'data');
  await listener!.close();
  await closed;
});
