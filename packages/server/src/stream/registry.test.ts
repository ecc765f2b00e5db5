import { create } from '@bufbuild/protobuf';
import { limits } from '@tandem/protocol';
import { AgentClientMessageSchema } from '@tandem/protocol/agent';
import type { AgentClientMessage } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { ENDED_MS, READERS_WAITING_PER_OWNER } from '../limits.ts';
import { silentLog } from '../observe/log.ts';
import type { RunServices } from '../run/run.ts';
import type { FrameSink } from './downlink.ts';
import { Registry } from './registry.ts';
import { readRequestHeaders } from './request-headers.ts';

const PLACEHOLDER = 30_000;
/** What the registry itself sets on the clock: its look at idle streams. */
const OWN_TIMERS = 1;

const heartbeat = create(AgentClientMessageSchema, { message: { case: 'clientHeartbeat', value: {} } });
const cancel = create(AgentClientMessageSchema, {
  message: { case: 'conversationAction', value: { action: { case: 'cancelAction', value: {} } } },
});
const headers = readRequestHeaders({});
const silentSink: FrameSink = {
  write(_, written) {
    written();
    return true;
  },
  end() {},
  drop() {},
  onDrain() {},
};

/** A registry in which no run is started: these tests are about streams that wait and streams that are over. */
function newRegistry() {
  const clock = new ManualClock();
  const registry = new Registry({
    services: { clock, log: silentLog } as unknown as RunServices,
    limits: { messageBytes: 1024, placeholderMs: PLACEHOLDER, readerGraceMs: 15_000 },
  });
  const accept = (requestId: string, seqno: bigint, message: AgentClientMessage = heartbeat, owner = 'ann') =>
    registry.accept({ owner, requestId, seqno, message, bytes: new Uint8Array(2), headers });
  return { clock, registry, accept };
}

describe('streams that wait', () => {
  it('[R12-placeholders-bounded] are bounded for each owner, whether readers or appends opened them', async () => {
    const { registry, accept } = newRegistry();
    for (let at = 0; at < READERS_WAITING_PER_OWNER; at++) registry.openForReader('ann', `r${at}`);
    expect(() => registry.openForReader('ann', 'one more')).toThrow('streams already wait for their first message');
    expect(registry.openForReader('ann', 'r0').state.tag).toBe('waiting');
    expect(registry.openForReader('bob', 'r0').state.tag).toBe('waiting');

    const other = newRegistry();
    for (let at = 0; at < 1_000; at++) await other.accept(`r${at}`, 1n);
    expect(other.registry.streamCount).toBe(limits.placeholdersPerOwner);
    await accept('r0', 0n);
  });

  it('give way to newer ones only while nobody reads them', async () => {
    const { registry, accept } = newRegistry();
    const read = registry.openForReader('ann', 'read');
    read.attach(silentSink);
    for (let at = 0; at < 200; at++) await accept(`r${at}`, 1n);
    expect(read.state.tag).toBe('waiting');
    expect(registry.openForReader('ann', 'read')).toBe(read);
  });

  it('end after their time and are forgotten a while later, timers and all', async () => {
    const { clock, registry, accept } = newRegistry();
    for (let at = 0; at < 3_000; at++) await accept(`r${at}`, 1n);
    clock.advance(PLACEHOLDER);
    clock.advance(ENDED_MS);
    expect(registry.streamCount).toBe(0);
    expect(clock.pending).toBe(OWN_TIMERS);
  });

  it('are not made for a number that no first messages reach', async () => {
    const { registry, accept } = newRegistry();
    await accept('r', 2n ** 63n - 1n);
    expect(registry.streamCount).toBe(0);
  });

  it('belong to one owner: another one with the same id gets a stream of its own', () => {
    const { registry } = newRegistry();
    expect(registry.openForReader('ann', 'r')).not.toBe(registry.openForReader('bob', 'r'));
  });

  it('end at once when the run is cancelled before it began', async () => {
    const { registry, accept } = newRegistry();
    const stream = registry.openForReader('ann', 'r');
    await accept('r', 3n, cancel);
    expect(stream.state.tag).toBe('ended');
  });
});

describe('streams that are over', () => {
  it('take late appends without a word and come back as a new stream for a reader', async () => {
    const { clock, registry, accept } = newRegistry();
    const stream = registry.openForReader('ann', 'r');
    stream.attach(silentSink);
    clock.advance(PLACEHOLDER);
    expect(stream.state.tag).toBe('ended');
    await new Promise<void>(resolve => stream.downlink.onDone(resolve));
    await accept('r', 4n);
    expect(stream.state.tag).toBe('ended');
    const again = registry.openForReader('ann', 'r');
    expect(again).not.toBe(stream);
    expect(again.nextSeqno).toBe(0);
  });

  it('do not take their successor along when they are forgotten', async () => {
    const { clock, registry } = newRegistry();
    const stream = registry.openForReader('ann', 'r');
    stream.attach(silentSink);
    clock.advance(PLACEHOLDER);
    await new Promise<void>(resolve => stream.downlink.onDone(resolve));
    clock.advance(ENDED_MS - 1_000);
    const again = registry.openForReader('ann', 'r');
    clock.advance(1_000);
    expect(registry.openForReader('ann', 'r')).toBe(again);
  });

  it('are refused to newcomers while the server shuts down', async () => {
    const { registry } = newRegistry();
    const waiting = registry.openForReader('ann', 'r');
    await registry.drain(0);
    expect(waiting.state.tag).toBe('ended');
    expect(() => registry.openForReader('ann', 'new')).toThrow('shutting down');
  });
});
