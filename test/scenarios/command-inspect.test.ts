import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runLine } from '../support/command.ts';
import { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Provider } from '../support/provider.ts';
import { startRecorder } from '../support/recorder.ts';
import type { Recorder } from '../support/recorder.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import { APPEND, RUN_SSE, closeConnections } from '../support/wire.ts';

interface FrameLine {
  readonly kind: string;
  readonly flags: string;
  readonly length: number;
  readonly compressed: boolean;
  readonly message: Record<string, Record<string, Record<string, string>>>;
  readonly [key: string]: unknown;
}

/** The keys of §1.2, in its order. */
const KEYS = ['kind', 'messageType', 'flags', 'length', 'compressed', 'endStream', 'message'];
/** Long enough to be packed. */
const LONG = 'all work and no play '.repeat(200);

describe('inspect on what a real turn left', () => {
  let provider: Provider;
  let server: TestServer;
  let recorder: Recorder;
  let peer: Peer;
  const folder = mkdtempSync(join(tmpdir(), 'tandem-capture-'));
  beforeAll(async () => {
    provider = await startProvider({ answers: [{ text: LONG }] });
    server = await startTestServer({ provider: provider.baseUrl });
    recorder = await startRecorder(server.url);
    peer = await new Peer({ url: recorder.url, accept: 'gzip' }).turn('say a lot');
  });
  afterAll(async () => {
    closeConnections();
    await recorder.close();
    await server.close();
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const inspect = async (name: string, body: Buffer): Promise<FrameLine[]> => {
    const file = join(folder, name);
    writeFileSync(file, body);
    const { exitCode, stdout, stderr } = await runLine(`npm start --silent -- inspect '${file}'`);
    expect(exitCode, stderr).toBe(0);
    return stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as FrameLine);
  };

  it('[done-inspect-capture] prints each frame of a recorded RunSSE body, packed ones too, and its end', async () => {
    const body = recorder.captures.find(({ path }) => path === RUN_SSE)?.down ?? Buffer.alloc(0);
    const lines = await inspect('run-sse.bin', body);
    expect(lines.map(({ flags, length }) => ({ flags: Number(flags), length }))).toEqual(
      peer.frames.map(({ flags, bytes }) => ({ flags, length: bytes })),
    );
    for (const line of lines.slice(0, -1)) expect(Object.keys(line)).toEqual(KEYS);
    expect(lines.some(({ flags, compressed }) => flags === '0x01' && compressed)).toBe(true);
    const texts = lines.map(({ message }) => message['interaction_update']?.['text_delta']?.['text'] ?? '');
    expect(texts.join('')).toBe(LONG);
    const end = { kind: 'end_stream', flags: '0x02', length: 2, compressed: false, endStream: true, message: {} };
    expect(lines.at(-1)).toEqual(end);
  });

  it('[product-inspect-shape] prints a recorded append with the request it belongs to and its number', async () => {
    const [first] = recorder.captures.filter(({ path }) => path === APPEND);
    const [line, ...more] = await inspect('append.bin', first?.up ?? Buffer.alloc(0));
    expect(more).toEqual([]);
    expect(Object.keys(line ?? {}).toSorted()).toEqual([...KEYS, 'append_seqno', 'request_id'].toSorted());
    expect(line).toMatchObject({ kind: 'run_request', request_id: peer.requestId, append_seqno: 0, endStream: false });
  });
});
