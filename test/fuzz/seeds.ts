import { create, toBinary } from '@bufbuild/protobuf';
import { AgentClientMessageSchema } from '@tandem/protocol/agent';
import { countedIdentity } from '../support/counted-identity.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Peer } from '../support/peer.ts';
import type { ClientMessage } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import { closeConnections } from '../support/wire.ts';

/** What a fuzzer starts from: every message that a client sent in a conversation of two turns, and some that it did not need to. */
export interface Seeds {
  /** Run requests, which start a run; the first is a small one. */
  readonly starts: readonly Uint8Array[];
  /** All others. */
  readonly others: readonly Uint8Array[];
}

const CALLS = [
  { name: 'Read', args: { path: 'a.txt' } },
  { name: 'Write', args: { path: 'new.txt', content: 'new' } },
  { name: 'Shell', args: { command: 'make test' } },
  { name: 'Delete', args: { path: 'new.txt' } },
  { name: 'TodoWrite', args: { merge: false, todos: [{ id: '1', content: 'first', status: 'pending' }] } },
];

const EXTRAS: readonly ClientMessage[] = [
  { case: 'clientHeartbeat', value: {} },
  { case: 'prewarmRequest', value: {} },
  { case: 'conversationAction', value: { action: { case: 'cancelAction', value: { reason: 'enough' } } } },
  {
    case: 'conversationAction',
    value: { action: { case: 'userMessageAction', value: { userMessage: { text: 'and this' } } } },
  },
  { case: 'execClientControlMessage', value: { message: { case: 'throw', value: { id: 1, error: 'it broke' } } } },
  { case: 'execClientControlMessage', value: { message: { case: 'heartbeat', value: { id: 1 } } } },
  { case: 'interactionResponse', value: { id: 1 } },
];

/** Plays the conversation and gives its messages, in an order of their own: the same every time. */
export async function recordSeeds(): Promise<Seeds> {
  const provider = await startProvider({
    answers: ({ body }) =>
      body.messages.at(-1)!.role === 'user' ? { text: 'I look.', calls: CALLS } : { text: 'done' },
  });
  const server = await startTestServer({
    provider: provider.baseUrl,
    clock: new ManualClock(),
    identity: countedIdentity(),
  });
  try {
    const names = { requestId: 'request-1', conversationId: 'conversation-1', runId: 'run-1' };
    const first = await new Peer({ url: server.url, ...names }).turn('look around');
    const second = first.next({ requestId: 'request-2', runId: 'run-2' });
    await second.turn('and again', { conversationState: first.state });
    const resumed = second.next({ requestId: 'request-3', runId: 'run-3' });
    await resumed.open();
    await resumed.resume(second.state);
    await resumed.finish();
    const sent = [first, second, resumed].flatMap(peer => peer.sent.map(({ message }) => message)).concat(EXTRAS);
    const encoded = sent.map(message =>
      Buffer.from(toBinary(AgentClientMessageSchema, create(AgentClientMessageSchema, { message }))),
    );
    const isStart = (at: number) => sent[at]!.case === 'runRequest';
    const distinct = (wanted: boolean) => {
      const found = new Map(
        encoded.filter((_, at) => isStart(at) === wanted).map(bytes => [bytes.toString('hex'), bytes]),
      );
      return [...found.keys()]
        .sort((left, right) => left.length - right.length || (left < right ? -1 : 1))
        .map(key => found.get(key)!);
    };
    return { starts: distinct(true), others: distinct(false) };
  } finally {
    closeConnections();
    await server.close();
    await provider.close();
  }
}
