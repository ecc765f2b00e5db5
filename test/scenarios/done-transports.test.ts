import { toBinary } from '@bufbuild/protobuf';
import { AgentServerMessageSchema } from '@tandem/protocol/agent';
import { expect, it } from 'vitest';
import { countedIdentity } from '../support/counted-identity.ts';
import { startHouse } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { Peer } from '../support/peer.ts';
import { transports } from '../support/wire.ts';
import type { Transport } from '../support/wire.ts';

/** Turns of every kind: tools, cancel, a provider that refuses, a model that nobody has. */
const scenarios: Record<string, (house: House, peer: Peer) => Promise<unknown>> = {
  'a turn with tools': (house, peer) => {
    house.say(
      { reasoning: 'let me see', text: ['I ', 'look.'], calls: [{ name: 'Read', args: { path: 'a.txt' } }] },
      { calls: [{ name: 'Shell', args: { command: 'make' } }] },
      { calls: [{ name: 'Write', args: { path: 'b.txt', contents: 'b\n' } }] },
      { text: ['all ', 'done'] },
    );
    return peer.turn('do it');
  },
  'a cancelled turn': async (house, peer) => {
    house.say({ events: [{ text: 'and so ' }, { gate: 'cancelled' }] });
    await peer.open();
    await peer.run('talk for ever');
    await peer.wait('update.textDelta');
    await peer.cancel();
    return peer.finish();
  },
  'a refused turn': (house, peer) => {
    house.say({ status: { code: 401, message: 'no such key' } });
    return peer.turn('hello');
  },
  'an unknown model': (house, peer) => {
    house.say();
    return peer.turn('hello', { requestedModel: { modelId: 'no-such-model' } });
  },
};

/** Every frame but heartbeats, which depend on time: its bytes in hex, and the fault of an end frame. */
async function framesOver(
  transport: Transport,
  play: (house: House, peer: Peer) => Promise<unknown>,
): Promise<unknown[]> {
  const house = await startHouse({ transport, standing: true, identity: countedIdentity() });
  try {
    const peer = house.peer({ requestId: 'request-1', conversationId: 'conversation-1', runId: 'run-1' });
    await play(house, peer);
    expect(peer.faults).toEqual([]);
    return peer.frames
      .filter(({ key }) => key !== 'update.heartbeat')
      .map(({ key, message, fault }) => [
        key,
        message
          ? Buffer.from(toBinary(AgentServerMessageSchema, message)).toString('hex')
          : `${fault?.code}: ${fault?.detail}`,
      ]);
  } finally {
    await house.close();
  }
}

// T01, T17
it.each(Object.entries(scenarios))(
  '[done-h1-equals-h2c] %s has the same frames, byte for byte, over HTTP/1.1 and over h2c',
  async (_, play) => {
    const [h1, h2c] = [await framesOver(transports[0]!, play), await framesOver(transports[1]!, play)];
    expect(h1.length).toBeGreaterThan(0);
    expect(h2c).toEqual(h1);
  },
);
