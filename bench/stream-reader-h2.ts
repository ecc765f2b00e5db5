/** Reads streams of one HTTP/2 session and counts bytes, as little as a client of Node can do; answers as `stream-reader.ts` does. */
import http2 from 'node:http2';
import { openRequestBody } from './open-request.ts';

const WINDOW = 16 * 1024 * 1024;

process.on('message', ({ port, streams }: { port: number; streams: number }) => {
  const session = http2.connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: WINDOW } });
  session.on('connect', () => session.setLocalWindowSize(WINDOW));
  let bytes = 0;
  let open = streams;
  let heads = 0;
  let firstAt = 0;
  let cpu = process.cpuUsage();
  for (let i = 0; i < streams; i++) {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/agent.v1.AgentService/RunSSE',
      'content-type': 'application/connect+proto',
      authorization: 'Bearer bench',
    });
    stream.end(openRequestBody(`bench-${i}`));
    stream.once('response', () => {
      if (++heads === streams) process.send!({ ready: true });
    });
    stream.on('data', (chunk: Buffer) => {
      if (firstAt === 0 && heads === streams) {
        firstAt = performance.now();
        cpu = process.cpuUsage();
      }
      bytes += chunk.length;
    });
    stream.on('close', () => {
      if (--open > 0) return;
      const { user, system } = process.cpuUsage(cpu);
      process.send!({ bytes, ms: performance.now() - firstAt, cpuMs: (user + system) / 1000 });
      session.close();
    });
  }
});
process.on('SIGTERM', () => process.exit(0));
process.send!({ ready: true });
