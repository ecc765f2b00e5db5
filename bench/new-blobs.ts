import type { KvServerMessage } from '@tandem/protocol/agent';
import { reachableBlobs } from '../test/support/graph.ts';
import { Peer } from '../test/support/peer.ts';
import { startProvider } from '../test/support/provider.ts';
import { closeConnections } from '../test/support/wire.ts';
import type { Figure } from './figure.ts';
import { serve } from './process.ts';
import { scriptedConfig } from './scripted-config.ts';

const TURNS = 20;

/** Bytes of set_blob in each turn of a conversation, against the bytes that the turn really added to it. */
export async function measureNewBlobs(): Promise<Figure> {
  const provider = await startProvider({
    answers: ({ body }) =>
      body.messages.at(-1)?.role === 'tool'
        ? { text: `The file greets, for the ${body.messages.length}th time. `.repeat(5) }
        : { text: 'Let me look.', calls: [{ name: 'Read', args: { path: 'a.txt' } }] },
  });
  const served = await serve(scriptedConfig(provider.baseUrl));
  const sent: number[] = [];
  const added: number[] = [];
  let whole = 0;
  try {
    let peer = new Peer({ url: served.url });
    let known = new Set<string>();
    for (let turn = 1; turn <= TURNS; turn++) {
      const state = turn === 1 ? {} : { conversationState: peer.state };
      peer = turn === 1 ? peer : peer.next();
      await peer.turn(`What does the file say, in turn ${turn}?`, state);
      if (peer.fault || peer.faults.length > 0) throw new Error(`turn ${turn} failed: ${peer.describe()}`);
      const { ids, missing } = reachableBlobs(peer.state, peer.blobs);
      if (missing.length > 0) throw new Error(`turn ${turn} misses blobs: ${missing.join(', ')}`);
      const sizeOf = (keys: Iterable<string>) => [...keys].reduce((sum, key) => sum + peer.blobs.get(key)!.length, 0);
      sent.push(
        peer
          .all('kv.setBlobArgs')
          .reduce((sum, { message }) => sum + setBytes(message!.message.value as KvServerMessage), 0),
      );
      added.push(sizeOf([...ids].filter(id => !known.has(id))));
      whole = sizeOf(ids);
      known = ids;
    }
  } finally {
    closeConnections();
    await Promise.all([served.stop(), provider.close()]);
  }
  return {
    name: 'new blobs only',
    workload: `${TURNS} turns with one read each; a repetition is a turn: bytes of set_blob in it`,
    unit: 'bytes',
    ours: sent,
    limit: { what: 'bytes that the turn added to the blobs of the state', values: added },
    notes: [
      `turn 2 sent ${sent[1]} bytes, turn ${TURNS} ${sent.at(-1)}; the whole state is ${whole} bytes by then`,
      'above 1: a turn is published while it grows, and each time the list of its steps is a new blob',
    ],
  };
}

function setBytes({ message }: KvServerMessage): number {
  return message.case === 'setBlobArgs' ? message.value.blobData.length : 0;
}
