/**
 * The limit of the downlink figure: a bare server of Node for either HTTP version that writes one buffer of pre-encoded frames a
 * tick, with the same number of frames in it, and waits when the connection is full. It makes no message, encodes nothing, copies
 * nothing.
 */
import http from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import { textMessage } from '../packages/server/src/bridge/outbox.ts';
import { messageFrame } from '../packages/server/src/stream/frame.ts';
import { DELTA, FRAMES_PER_TICK, framesOf } from './downlink-load.ts';

const frame = messageFrame(textMessage('textDelta', DELTA));
const batch = Buffer.concat(Array.from({ length: FRAMES_PER_TICK }, () => frame));
const HEAD = { 'content-type': 'application/connect+proto', 'cache-control': 'no-cache' };

let frames = 0;
let cpuBefore = process.cpuUsage();
let waiting: Writable[] = [];

function speak(response: Writable, left: number): void {
  if (left <= 0) {
    response.end();
    return;
  }
  const next = () => speak(response, left - FRAMES_PER_TICK);
  if (response.write(batch)) setImmediate(next);
  else response.once('drain', next);
}

function startHttp1(): http.Server {
  return http.createServer({ noDelay: true }, (request, response) => {
    request.resume();
    response.writeHead(200, HEAD);
    response.flushHeaders();
    waiting.push(response);
  });
}

function startHttp2(): http2.Http2Server {
  const server = http2.createServer({ settings: { initialWindowSize: 1024 * 1024 } });
  server.on('stream', stream => {
    stream.resume();
    stream.respond({ ':status': 200, ...HEAD });
    waiting.push(stream);
  });
  return server;
}

const server = process.argv[2] === 'h2c' ? startHttp2() : startHttp1();
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));

process.on('message', ({ streams }: { streams: number }) => {
  if (streams > 0) {
    frames = framesOf(streams);
    const ready = waiting;
    waiting = [];
    cpuBefore = process.cpuUsage();
    for (const response of ready) speak(response, frames);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  process.send!({ cpuMs: (user + system) / 1000, waiting: waiting.length });
});
process.on('SIGTERM', () => process.exit(0));
