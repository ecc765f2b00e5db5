import { fromBinary } from '@bufbuild/protobuf';
import { Fault, decodeAppend } from '@tandem/protocol';
import { AgentClientMessageSchema } from '@tandem/protocol/agent';
import { BidiRequestIdSchema } from '@tandem/protocol/aiserver';
import type { Request } from '../../packages/server/src/http/listen.ts';
import { readMessages, readOneMessage } from '../../packages/server/src/http/stream-call.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MESSAGE_BYTES } from './ground.ts';

/** The bodies that a server reads before anything else knows of them. */
export const bodyKinds = ['append', 'run-sse', 'run'] as const;
export type BodyKind = (typeof bodyKinds)[number];

const clock = new ManualClock();
/** Nothing here has a reason to take longer: a guard against what takes time without bound. */
const SLOW_MS = 2_000;

/** Reads a body as the server does. @returns what was broken: anything thrown that is no Fault, or a reading without end */
export async function readBodyOf(kind: BodyKind, body: Uint8Array): Promise<string | undefined> {
  const startedAt = performance.now();
  try {
    if (kind === 'append') decodeAppend(body, { maxBytes: MESSAGE_BYTES });
    else if (kind === 'run-sse')
      decodeOrFault(await readOneMessage(requestOf(body), clock, 'RunSSE', MESSAGE_BYTES), BidiRequestIdSchema);
    else
      for await (const bytes of readMessages(requestOf(body), 'Run', MESSAGE_BYTES))
        decodeOrFault(bytes, AgentClientMessageSchema);
  } catch (error) {
    if (!(error instanceof Fault)) return `threw ${String(error instanceof Error ? error.stack : error)}`;
    if (error.code === 'internal') return `failed with internal: ${error.detail}`;
  }
  const took = performance.now() - startedAt;
  return took > SLOW_MS ? `took ${Math.round(took)} ms` : undefined;
}

/** The routes make a Fault of whatever the decoder throws; that it throws an Error is all there is to see. */
function decodeOrFault(bytes: Uint8Array, schema: typeof AgentClientMessageSchema | typeof BidiRequestIdSchema): void {
  try {
    fromBinary(schema, bytes);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

/** A request whose body comes in three pieces, its envelopes packed with gzip where they say so. */
function requestOf(body: Uint8Array): Request {
  const cuts = [0, body.length % 7, Math.floor(body.length / 2), body.length].sort((left, right) => left - right);
  const pieces = cuts.slice(1).map((end, at) => body.subarray(cuts[at], end));
  return {
    headers: { 'connect-content-encoding': 'gzip' },
    async *[Symbol.asyncIterator]() {
      yield* pieces;
    },
  } as unknown as Request;
}
