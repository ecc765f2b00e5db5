import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Reads one RunSSE on a thread of its own, so that a busy test does not look like a silent server. Gives the times at which
 * something came, in milliseconds.
 */
export async function watchStream(options: {
  url: string;
  path: string;
  transport: 'h1' | 'h2c';
  headers: Record<string, string>;
  body: Uint8Array;
}) {
  const worker = new Worker(READ_STREAM, { eval: true, workerData: options });
  await once(worker, 'message');
  return {
    /** Ends the watch; the last time is now. */
    async stop(): Promise<number[]> {
      const answered = once(worker, 'message');
      worker.postMessage('stop');
      const [times] = (await answered) as [number[]];
      await worker.terminate();
      return times;
    },
  };
}

/** Plain JavaScript: a thread that is made from a text has no loader of its own. */
const READ_STREAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { url, path, transport, headers, body } = workerData;
const times = [];
const seen = () => {
  times.push(Date.now());
  if (times.length === 1) parentPort.postMessage('open');
};
parentPort.on('message', () => parentPort.postMessage([...times, Date.now()]));
if (transport === 'h2c') {
  const stream = require('node:http2').connect(url).request({ ':method': 'POST', ':path': path, ...headers });
  stream.on('data', seen);
  stream.end(body);
} else {
  const request = require('node:http').request(url + path, { method: 'POST', headers }, response => response.on('data', seen));
  request.end(body);
}
`;
