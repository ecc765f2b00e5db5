import type { AnswerQuery } from './answer-query.ts';
import { memoryBlobStore } from './blob-store.ts';
import type { BlobStore } from './blob-store.ts';
import { systemClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { makeConnection } from './connection.ts';
import { Conversation } from './conversation.ts';
import type { BeginRun, ConversationOptions } from './conversation.ts';
import type { Executors } from './executor.ts';
import { randomIds } from './ids.ts';
import type { Ids } from './ids.ts';
import { limits } from './limits.ts';
import { fetchModels } from './model-catalogue.ts';
import type { ModelItem } from './model-catalogue.ts';
import { AgentRun } from './run.ts';
import type { Run, RunSurroundings } from './run.ts';
import type { RunOptions } from './run-request.ts';
import { Children } from './subagent/children.ts';
import { fetchTransport } from './transport-fetch.ts';
import type { Transport } from './transport.ts';

/** What a client needs to know. */
export interface AgentClientOptions {
  /** The server, such as `http://127.0.0.1:7788`. */
  baseUrl: string;
  /** Sent as bearer. A server on loopback without configured keys takes none, or any. */
  apiKey?: string;
  /** `fetch` when absent. */
  transport?: Transport;
  /** What this client can do for the server; what is not here is answered with a throw (R35). Nothing when absent. */
  executors?: Executors;
  /** Where blobs are kept; in memory when absent, so a conversation then ends with the process. */
  blobs?: BlobStore;
  /** Answers the server's questions; absent, all are refused with a reason (§19.3). */
  answerQuery?: AnswerQuery;
  clock?: Clock;
  ids?: Ids;
  /** A stream without a whole frame for this long is given up. 30,000 by default, as stock clients do; the rules allow 15,000 to 75,000 (R17). */
  silenceMs?: number;
  /** More headers for every request. */
  headers?: Record<string, string>;
}

/** A client of one server. Runs are independent of each other; a second run on a conversation ends the first (R15). */
export class AgentClient {
  private readonly surroundings: RunSurroundings;

  /** Throws when the address is none, or the silence is outside of what the rules allow. */
  constructor(options: AgentClientOptions) {
    const silenceMs = options.silenceMs ?? limits.silence;
    if (!(silenceMs >= limits.silenceShortest && silenceMs <= limits.silenceLongest)) {
      throw new RangeError(
        `silenceMs is ${silenceMs}; it has to be from ${limits.silenceShortest} to ${limits.silenceLongest}`,
      );
    }
    this.surroundings = {
      connection: makeConnection({
        transport: options.transport ?? fetchTransport(),
        baseUrl: options.baseUrl,
        apiKey: options.apiKey,
        headers: options.headers,
      }),
      executors: options.executors ?? [],
      blobs: options.blobs ?? memoryBlobStore(),
      answerQuery: options.answerQuery,
      clock: options.clock ?? systemClock,
      ids: options.ids ?? randomIds,
      silenceMs,
      children: new Children(),
    };
  }

  /** Begins a run at once. It never throws for what a server does: read the end event. */
  run(options: RunOptions): Run {
    return new AgentRun(this.surroundings, options);
  }

  /** A conversation of many turns; a new one without an id. */
  conversation(id?: string, options: ConversationOptions = {}): Conversation {
    const begin: BeginRun = (run, more) => new AgentRun({ ...this.surroundings, ...more }, run);
    return new Conversation(id ?? this.surroundings.ids.uuid(), begin, options);
  }

  /** Ends child runs in the background, and lets go of what the executors hold, such as MCP servers. Runs under way are not ended by it. */
  async close(): Promise<void> {
    this.surroundings.children.cancelAll('the client was closed');
    await Promise.allSettled(this.surroundings.executors.map(async executor => await executor.close?.()));
  }

  /** The models that the server offers. Rejects with an AttemptFailure. */
  models(): Promise<ModelItem[]> {
    return fetchModels(this.surroundings.connection, this.surroundings.clock);
  }
}
