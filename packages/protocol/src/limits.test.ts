import { expect, it } from 'vitest';
import { encodeAppend } from './append.ts';
import { appendBodyBytes, limits } from './limits.ts';

it('leaves room for a message of the limit in both forms at once', () => {
  const bytes = new Uint8Array(1 << 20);
  const body = encodeAppend({ requestId: 'r'.repeat(200), seqno: 2n ** 62n, bytes, form: 'both' });
  expect(body.byteLength).toBeLessThanOrEqual(appendBodyBytes(bytes.byteLength));
});

it('keeps heartbeats well inside the silence that ends a stream (R16, R17)', () => {
  expect(limits.serverHeartbeatMs * 2).toBeLessThan(limits.silenceLeastMs);
  expect(limits.silenceLeastMs).toBeLessThanOrEqual(limits.silenceMs);
  expect(limits.silenceMs).toBeLessThanOrEqual(limits.silenceMostMs);
});
