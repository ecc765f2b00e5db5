import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reachableBlobs } from '../support/graph.ts';
import { Peer } from '../support/peer.ts';
import type { PeerOptions } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Answer, ChatBody, Provider } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import { ways } from '../support/ways.ts';
import { closeConnections } from '../support/wire.ts';

/** Says what the newest user message asks for: `tools`, `big`, `slow`, `fail`, else an echo. */
function answer({ body }: { body: ChatBody }): Answer {
  const last = body.messages.at(-1)!;
  if (last.role === 'tool') return { text: ['done ', 'with tools'] };
  const asked = String(last.content);
  if (asked.includes('tools')) {
    return {
      text: ['looking '],
      calls: [
        { name: 'Read', args: { path: 'a.txt' } },
        { name: 'Shell', args: { command: 'make test' } },
      ],
    };
  }
  if (asked.includes('big'))
    return { text: Array.from({ length: 40 }, (_, index) => `${index} ${'x'.repeat(50_000)} `) };
  if (asked.includes('slow')) return { events: [{ text: 'first ' }, { hang: true }] };
  return { text: ['echo: ', asked] };
}

describe.each(ways)('$name', ({ transport, way, secure }) => {
  let provider: Provider;
  let server: TestServer;
  beforeAll(async () => {
    provider = await startProvider({ answers: answer });
    server = await startTestServer({ provider: provider.baseUrl, secure });
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });
  const peer = (options: Partial<PeerOptions> = {}) => new Peer({ url: server.url, transport, way, ...options });

  it('F17: plays a turn with parallel tools and the next one, without a fault on the wire (R1, R2)', async () => {
    const first = await peer().turn('use your tools');
    expect(first.fault).toBeUndefined();
    expect(first.text).toBe('looking done with tools');
    expect(first.order.slice(-3)).toEqual(['checkpoint', 'update.turnEnded', 'end']);
    expect(first.workspace.done).toEqual(expect.arrayContaining(['read a.txt', 'shell make test']));
    expect(reachableBlobs(first.state, first.blobs).missing).toEqual([]);
    const second = await first.next().turn('and now?', { conversationState: first.state });
    expect(second.text).toBe('echo: and now?');
    expect([...first.faults, ...second.faults]).toEqual([]);
  });

  it('[R2-every-way] carries large answers whole and in order', async () => {
    const big = await peer().turn('big');
    expect(big.text.match(/\d+ x/g)).toEqual(Array.from({ length: 40 }, (_, index) => `${index} x`));
    expect(big.text.match(/x/g)).toHaveLength(40 * 50_000);
    expect(big.faults).toEqual([]);
  });

  it('[R2-every-way] ends a canceled run with canceled, and the provider is let go', async () => {
    const slow = peer();
    await slow.open();
    await slow.run('slow');
    await slow.wait('update.textDelta');
    await slow.cancel();
    await slow.finish();
    expect(slow.fault?.code).toBe('canceled');
    expect(slow.all('update.turnEnded')).toEqual([]);
    await expect(provider.requests.at(-1)!.closed).resolves.toEqual({ early: true });
  });

  it('[R2-every-way] tells a failure in the last frame, with its detail', async () => {
    const lost = await peer({ model: 'no-such-model' }).turn('hello');
    expect(lost.fault).toMatchObject({ code: 'invalid_argument', title: 'Unknown model', retryable: false });
  });
});
