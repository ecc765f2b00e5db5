/**
 * Reads streams over raw sockets into one buffer that is used again and again, and counts bytes: as little as a reader can do.
 * Says how long it was busy, so that a figure it limited can be told from one it did not.
 */
import net from 'node:net';
import { openRequest } from './open-request.ts';

process.on('message', ({ port, streams }: { port: number; streams: number }) => {
  let bytes = 0;
  let open = streams;
  let heads = 0;
  let firstAt = 0;
  let cpu = process.cpuUsage();
  for (let i = 0; i < streams; i++) {
    let sawHead = false;
    const socket = net.connect({
      port,
      host: '127.0.0.1',
      onread: {
        buffer: Buffer.alloc(256 * 1024),
        callback(count) {
          if (!sawHead) {
            sawHead = true;
            if (++heads === streams) process.send!({ ready: true });
          } else if (firstAt === 0) {
            firstAt = performance.now();
            cpu = process.cpuUsage();
          }
          bytes += count;
          return true;
        },
      },
    });
    socket.write(openRequest(`bench-${i}`, { close: true }));
    socket.on('close', () => {
      if (--open > 0) return;
      const { user, system } = process.cpuUsage(cpu);
      process.send!({ bytes, ms: performance.now() - firstAt, cpuMs: (user + system) / 1000 });
    });
  }
});
process.on('SIGTERM', () => process.exit(0));
process.send!({ ready: true });
