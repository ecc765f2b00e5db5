/**
 * The limit of the downlink figure: a bare node:http server that writes one buffer of pre-encoded frames a tick, with the same
 * number of frames in it, and waits when the socket is full. It makes no message, encodes nothing, copies nothing.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { updateMessage } from '../packages/server/src/bridge/outbox.ts';
import { messageFrame } from '../packages/server/src/stream/frame.ts';
import { DELTA, FRAMES_PER_TICK, framesOf } from './downlink-load.ts';

const frame = messageFrame(
  updateMessage({
    case: 'textDelta',
    value: { $typeName: 'agent.v1.TextDeltaUpdate', text: DELTA, isServerNotice: false },
  }),
);
const batch = Buffer.concat(Array.from({ length: FRAMES_PER_TICK }, () => frame));

let frames = 0;
let cpuBefore = process.cpuUsage();
let waiting: http.ServerResponse[] = [];

function speak(response: http.ServerResponse, left: number): void {
  if (left <= 0) {
    response.end();
    return;
  }
  const next = () => speak(response, left - FRAMES_PER_TICK);
  if (response.write(batch)) setImmediate(next);
  else response.once('drain', next);
}

const server = http.createServer({ noDelay: true }, (request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'application/connect+proto', 'cache-control': 'no-cache' });
  response.flushHeaders();
  waiting.push(response);
});
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
