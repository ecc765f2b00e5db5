/**
 * Watches a server from outside while something large goes through it: the times between frames of an idle stream, and how long
 * `/healthz` takes, which shows for how long its loop was busy.
 */
import http from 'node:http';
import net from 'node:net';
import { openRequest } from './open-request.ts';

const ASK_EVERY_MS = 20;

process.on('message', (question: { url: string } | 'stop') => {
  if (question === 'stop') {
    const now = performance.now();
    process.send!({
      frameGapMs: Math.max(frameGapMs, now - lastFrameAt),
      healthMs: Math.max(healthMs, askedAt === undefined ? 0 : now - askedAt),
    });
    return;
  }
  const { hostname, port } = new URL(question.url);
  const socket = net.connect(Number(port), hostname);
  socket.write(openRequest('watch'));
  socket.on('data', () => {
    const now = performance.now();
    if (lastFrameAt === 0) process.send!({ ready: true });
    else frameGapMs = Math.max(frameGapMs, now - lastFrameAt);
    lastFrameAt = now;
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  setInterval(() => {
    if (askedAt !== undefined) return;
    askedAt = performance.now();
    http.get({ hostname, port, path: '/healthz', agent }, response => {
      response.resume();
      response.on('end', () => {
        healthMs = Math.max(healthMs, performance.now() - askedAt!);
        askedAt = undefined;
      });
    });
  }, ASK_EVERY_MS);
});

let lastFrameAt = 0;
let frameGapMs = 0;
let healthMs = 0;
let askedAt: number | undefined;
process.on('SIGTERM', () => process.exit(0));
