import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Provider } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import { closeConnections, transports } from '../support/wire.ts';

describe.each(transports)('a plain turn over %s', transport => {
  let provider: Provider;
  let server: TestServer;
  beforeAll(async () => {
    provider = await startProvider({ answers: () => ({ text: ['hello ', 'there'] }) });
    server = await startTestServer({ provider: provider.baseUrl });
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });

  it('[§22.1-run-frames] ends with a checkpoint, turn_ended and one empty end frame', async () => {
    const peer = await new Peer({ url: server.url, transport }).turn('say hello');
    expect(peer.fault).toBeUndefined();
    expect(peer.text).toBe('hello there');
    expect(peer.order.slice(-3)).toEqual(['checkpoint', 'update.turnEnded', 'end']);
    expect(peer.faults).toEqual([]);
  });
});
