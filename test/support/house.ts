import { ManualClock } from './manual-clock.ts';
import { Peer } from './peer.ts';
import type { PeerOptions } from './peer.ts';
import { startProvider, textOfContent } from './provider.ts';
import type { Answer, ChatBody, Provider, RecordedRequest } from './provider.ts';
import { findSecrets, tracesOf } from './secret-search.ts';
import { PLANTED_SECRETS, startTestServer } from './server.ts';
import type { TestServer, TestServerOptions } from './server.ts';
import { closeConnections } from './wire.ts';
import type { Transport } from './wire.ts';

/** A scripted provider, a whole server in front of it, and clients that call there. */
export interface House {
  readonly provider: Provider;
  readonly server: TestServer;
  /** The server's clock, when it was started with one that a test moves. */
  readonly clock: ManualClock;
  /** What the provider answers from now on, in order; what was left of earlier answers is gone. */
  say(...answers: Answer[]): void;
  /** What reached the provider since the last `say`. */
  readonly requests: readonly RecordedRequest[];
  peer(options?: Partial<PeerOptions>): Peer;
  close(): Promise<void>;
}

export interface HouseOptions extends Omit<TestServerOptions, 'provider' | 'clock'> {
  readonly transport?: Transport;
  /** Gives the server a clock that stands until the test moves it. */
  readonly standing?: boolean;
}

export async function startHouse({
  transport = 'h1',
  standing = false,
  ...options
}: HouseOptions = {}): Promise<House> {
  let left: Answer[] = [];
  let mark = 0;
  const clock = new ManualClock();
  const provider = await startProvider({
    answers: request => {
      const answer = left.shift();
      if (!answer) throw new Error(`no answer is left for request ${request.number - mark}`);
      return answer;
    },
  });
  const server = await startTestServer({ ...options, provider: provider.baseUrl, ...(standing && { clock }) });
  const peers: Peer[] = [];
  return {
    provider,
    server,
    clock,
    say(...answers) {
      left = answers;
      mark = provider.requests.length;
    },
    get requests() {
      return provider.requests.slice(mark);
    },
    peer(more) {
      const peer = new Peer({ url: server.url, transport, ...more });
      peers.push(peer);
      return peer;
    },
    async close() {
      closeConnections();
      // every house is searched for the secrets that its server was given
      const found = findSecrets(tracesOf(server, peers.filter(isSearched)), PLANTED_SECRETS);
      await server.close();
      await provider.close();
      if (found.length > 0) throw new Error(`a secret came out: ${found.join('; ')}`);
    },
  };
}

/** Frames of one client that are searched: a few tests have many thousands, which say the same again and again. */
const SEARCHED_FRAMES = 2_000;

const isSearched = ({ frames }: Peer) => frames.length <= SEARCHED_FRAMES;

/** Texts of the tool results that a request carries, in order. */
export function toolTexts({ messages }: ChatBody): string[] {
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => textOfContent(content));
}

/** Texts of the messages of one role, in order. */
export function textsOf({ messages }: ChatBody, role: string): string[] {
  return messages.filter(message => message.role === role).map(({ content }) => textOfContent(content));
}
