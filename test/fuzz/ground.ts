import { create } from '@bufbuild/protobuf';
import { Fault, decodeAppend, decodeEndStream, limits } from '@tandem/protocol';
import { AgentClientMessageSchema } from '@tandem/protocol/agent';
import type { AgentClientMessage } from '@tandem/protocol/agent';
import type { Log } from '@tandem/server';
import { DEFAULT_LIMITS } from '../../packages/server/src/config/limits.ts';
import type { Catalogue, Model, ModelEvent, ModelRequest } from '../../packages/server/src/model/port.ts';
import type { Store } from '../../packages/server/src/store/port.ts';
import { openSqliteStore } from '../../packages/server/src/store/sqlite/store.ts';
import type { FrameSink } from '../../packages/server/src/stream/downlink.ts';
import type { Frame } from '../../packages/server/src/stream/frame.ts';
import { splitFrames } from '../../packages/server/src/stream/frame-bytes.ts';
import { Registry } from '../../packages/server/src/stream/registry.ts';
import { readRequestHeaders } from '../../packages/server/src/stream/request-headers.ts';
import { countedIdentity } from '../support/counted-identity.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** The longest message that is taken here. */
export const MESSAGE_BYTES = 64 * 1024;

/** A model that reads and runs a command, then ends. */
const model: Model = {
  info: {
    key: 'fuzz/model',
    provider: 'fuzz',
    id: 'model',
    name: 'Model',
    contextWindow: 200_000,
    maxOutput: 8_000,
    vision: true,
    aliases: [],
    parameters: [],
  },
  async *stream({ messages }: ModelRequest): AsyncGenerator<ModelEvent> {
    yield { type: 'text', text: 'well ' };
    if (messages.at(-1)?.role !== 'tool') {
      yield { type: 'tool-call', key: '0', providerId: 'a', name: 'Read', args: '{"path":"a.txt"}' };
      yield { type: 'tool-call', key: '1', providerId: 'b', name: 'Shell', args: '{"command":"make"}' };
      yield { type: 'finish', reason: 'tool-calls', usage: {} };
    } else yield { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 1 } };
  },
};
const catalogue: Catalogue = {
  models: [model.info],
  defaultModel: model.info,
  resolve: () => ({ model, parameters: {} }),
};

/** A registry with all that its runs need, in this process and without HTTP. */
export interface Ground {
  readonly registry: Registry;
  readonly clock: ManualClock;
  readonly store: Store;
  /** What registry and store themselves keep on the clock. */
  readonly ownTimers: number;
  /** What was logged as a fault of the server itself since the last look. */
  takeErrors(): string[];
  close(): Promise<void>;
}

export function openGround(): Ground {
  const clock = new ManualClock();
  const store = openSqliteStore({ file: ':memory:', clock });
  let errors: string[] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (fields, text) => void errors.push(`${text} ${String(fields['error'] ?? '')}`),
  };
  const registry = new Registry({
    services: { catalogue, store, clock, identity: countedIdentity(), log, callLimits: DEFAULT_LIMITS },
    limits: { messageBytes: MESSAGE_BYTES, placeholderMs: limits.placeholderMs, readerGraceMs: limits.readerGraceMs },
  });
  return {
    registry,
    clock,
    store,
    ownTimers: clock.pending,
    takeErrors() {
      const taken = errors;
      errors = [];
      return taken;
    },
    async close() {
      registry.stop();
      await store.close();
    },
  };
}

/** Longer than a file exec or a command in the foreground is waited for. */
const WORK_MS = 120_000;
/** Longer than the registry remembers a stream that is over. */
const MEMORY_MS = 80_000;
/** Above what the appends of a life are numbered with, and low enough to be taken. */
const LAST_SEQNO = 1_000n;
const cancel = create(AgentClientMessageSchema, {
  message: { case: 'conversationAction', value: { action: { case: 'cancelAction', value: {} } } },
});

/**
 * Lives of one stream each, beside one another: a reader opens it, the bodies are appended, everything is left to end by itself.
 * @returns what was broken in each, by its place; nothing where all was as it has to be
 */
export async function playLives(
  ground: Ground,
  lives: readonly (readonly Uint8Array[])[],
): Promise<Map<number, string>> {
  const { registry, clock } = ground;
  const broken = new Map<number, string>();
  const report = (life: number, what: string) => void (broken.has(life) || broken.set(life, what));
  const ends = lives.map((bodies, life) => playLife(registry, bodies, life, what => report(life, what)));
  for (let turn = 0; turn < 12; turn++) await new Promise<void>(resolve => setImmediate(resolve));
  await clock.pass(8_000, 2_000);
  await clock.pass(WORK_MS, 20_000);
  // a model that is told something new over and over works for as long: what is still at work was given time enough
  for (const life of lives.keys()) void acceptAppend(registry, life, LAST_SEQNO, cancel, new Uint8Array(6));
  await clock.pass(MEMORY_MS, 20_000);
  for (const [life, end] of ends.entries()) {
    const what = end();
    if (what !== undefined) report(life, what);
  }
  const left = { streams: registry.streamCount, runs: registry.runCount, timers: clock.pending - ground.ownTimers };
  // whose it is shows when a life is played alone
  if (left.streams + left.runs + left.timers !== 0) report(0, `left behind: ${JSON.stringify(left)}`);
  for (const error of ground.takeErrors()) report(0, `logged: ${error}`);
  return broken;
}

const ownerOf = (life: number) => `owner-${life}`;

function acceptAppend(
  registry: Registry,
  life: number,
  seqno: bigint,
  message: AgentClientMessage,
  bytes: Uint8Array,
): Promise<void> {
  return registry.accept({
    owner: ownerOf(life),
    requestId: 'request-1',
    seqno,
    message,
    bytes,
    headers: readRequestHeaders({}),
  });
}

function playLife(
  registry: Registry,
  bodies: readonly Uint8Array[],
  life: number,
  report: (what: string) => void,
): () => string | undefined {
  const frames: Frame[] = [];
  const sink: FrameSink = {
    write(more, written) {
      frames.push(...splitFrames(more));
      written();
      return true;
    },
    end() {},
    drop() {},
    onDrain() {},
  };
  registry.openForReader(ownerOf(life), 'request-1').attach(sink);
  let open = 0;
  for (const body of bodies) {
    let append;
    try {
      append = decodeAppend(body, { maxBytes: MESSAGE_BYTES });
    } catch (error) {
      if (!(error instanceof Fault)) report(`decoding threw ${String(error)}`);
      continue;
    }
    const { seqno, message, bytes } = append;
    open++;
    acceptAppend(registry, life, seqno, message, bytes)
      .catch((error: unknown) => {
        if (!(error instanceof Fault))
          report(`an append threw ${String(error instanceof Error ? error.stack : error)}`);
      })
      .finally(() => open--);
  }
  return () => {
    if (open !== 0) return `${open} appends were never acknowledged`;
    const ends = frames.filter(frame => (frame[0]! & 2) !== 0);
    if (ends.length !== 1 || frames.at(-1) !== ends[0]) return `${ends.length} end frames among ${frames.length}`;
    const { fault } = decodeEndStream(ends[0]!.subarray(limits.envelopeHeadBytes));
    return fault?.code === 'internal' ? `ended with internal: ${fault.detail}` : undefined;
  };
}
