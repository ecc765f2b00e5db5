import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { EnvelopeReader, decodeEndStream, decodeHex, encodeEnvelope } from '@tandem/protocol';
import type { Fault } from '@tandem/protocol';
import { AgentServerMessageSchema } from '@tandem/protocol/agent';
import type { AgentServerMessage } from '@tandem/protocol/agent';
import { BidiPollRequestSchema, BidiPollResponseSchema } from '@tandem/protocol/aiserver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Provider } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import { closeConnections, fetchWhole, streamHeaders, transports } from '../support/wire.ts';
import type { Transport } from '../support/wire.ts';

interface Poll {
  readonly messages: { seqno: number; eof: boolean; message: AgentServerMessage | undefined }[];
  readonly fault: Fault | undefined;
}

async function poll(url: string, requestId: string, transport: Transport): Promise<Poll> {
  const { body } = await fetchWhole({
    url,
    transport,
    path: '/agent.v1.AgentService/RunPoll',
    headers: streamHeaders(),
    body: encodeEnvelope(toBinary(BidiPollRequestSchema, create(BidiPollRequestSchema, { requestId: { requestId } }))),
  });
  const envelopes = new EnvelopeReader({ maxBytes: 1 << 28 }).push(body);
  const end = envelopes.pop()!;
  expect(end.endStream).toBe(true);
  return {
    fault: decodeEndStream(end.payload).fault,
    messages: envelopes.map(({ payload }) => {
      const { seqno, data, eof = false } = fromBinary(BidiPollResponseSchema, payload);
      const bytes = decodeHex(data);
      return {
        seqno: Number(seqno),
        eof,
        message:
          bytes instanceof Uint8Array && bytes.length > 0 ? fromBinary(AgentServerMessageSchema, bytes) : undefined,
      };
    }),
  };
}

describe.each(transports)('RunPoll over %s', transport => {
  let provider: Provider;
  let server: TestServer;
  beforeAll(async () => {
    provider = await startProvider({
      answers: ({ body }) =>
        body.messages.at(-1)!.role === 'tool'
          ? { text: ['read ', 'it'] }
          : { calls: [{ name: 'Read', args: { path: 'a.txt' } }] },
    });
    server = await startTestServer({ provider: provider.baseUrl });
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });

  it('gives a whole turn in polls, numbered from 0 without a gap, with eof on the last message (R66)', async () => {
    const peer = new Peer({ url: server.url, transport });
    await peer.run('read a.txt');
    const all: Poll['messages'] = [];
    while (!all.at(-1)?.eof) {
      const { messages, fault } = await poll(server.url, peer.requestId, transport);
      expect(fault).toBeUndefined();
      all.push(...messages);
      for (const { message } of messages) if (message) peer.receive(message);
    }
    expect(all.map(({ seqno }) => seqno)).toEqual(all.map((_, index) => index));
    expect(peer.text).toBe('read it');
    expect(peer.order.at(-1)).toBe('update.turnEnded');
    expect(all.filter(({ eof }) => eof)).toHaveLength(1);
    expect(peer.faults).toEqual([]);
  });

  it('ends the poll itself with the fault of the run (R66)', async () => {
    const peer = new Peer({ url: server.url, transport, model: 'no-such-model' });
    await peer.run('hello');
    let last: Poll;
    do last = await poll(server.url, peer.requestId, transport);
    while (!last.fault);
    expect(last.fault.code).toBe('invalid_argument');
    expect(last.messages.some(({ eof }) => eof)).toBe(false);
  });
});
