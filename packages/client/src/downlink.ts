import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { EnvelopeReader, decodeEndStream, decodeUnaryError, encodeEnvelope } from '@tandem/protocol';
import type { Code } from '@tandem/protocol';
import { AgentServerMessageSchema } from '@tandem/protocol/agent';
import type { AgentServerMessage } from '@tandem/protocol/agent';
import { BidiRequestIdSchema } from '@tandem/protocol/aiserver';
import { paths } from './connection.ts';
import type { Connection } from './connection.ts';
import { AttemptFailure, connectionFailure, failureOf, failureOfFault, protocolFailure, reasonOf } from './failure.ts';
import { limits } from './limits.ts';
import { readBody } from './transport.ts';
import type { Decompress, TransportAnswer } from './transport.ts';

/** What comes down: messages, and at the end the status of the stream. A stream that ends otherwise throws. */
export type Downlink = AsyncIterable<{ message: AgentServerMessage } | { end: AttemptFailure | undefined }>;

/**
 * Opens RunSSE (§15) for `requestId`, or Run when there is an `uplink`, the envelopes of the way up on the same call (R1). Resolves once the server
 * has accepted the stream; rejects with an AttemptFailure.
 */
export async function openDownlink(
  connection: Connection,
  request: {
    requestId: string;
    headers: Record<string, string>;
    signal: AbortSignal;
    onFrame: () => void;
    uplink?: AsyncIterable<Uint8Array> | undefined;
  },
): Promise<Downlink> {
  const { transport } = connection;
  const codecs = [...transport.codecs.keys()];
  let answer: TransportAnswer;
  try {
    answer = await transport.exchange({
      method: 'POST',
      url: connection.baseUrl + (request.uplink === undefined ? paths.runSse : paths.run),
      headers: {
        ...connection.headers,
        ...request.headers,
        'content-type': 'application/connect+proto',
        'connect-protocol-version': '1',
        ...(codecs.length === 0 ? {} : { 'connect-accept-encoding': codecs.join(',') }),
      },
      body: request.uplink ?? subscription(request.requestId),
      signal: request.signal,
    });
  } catch (error) {
    throw failureOf(error, `cannot reach ${connection.baseUrl}`);
  }
  // The status comes first: a body that is no stream would only confuse the frame reader.
  if (answer.status !== 200) throw await refusal(answer, 'the run stream');
  const type = answer.header('content-type') ?? '';
  if (!type.startsWith('application/connect+proto')) {
    throw protocolFailure(`${connection.baseUrl} answered with ${type || 'no content type'}; is it an agent server?`);
  }
  return readFrames(answer, chooseCodec(answer, transport.codecs), request.onFrame);
}

function subscription(requestId: string): Uint8Array {
  return encodeEnvelope(toBinary(BidiRequestIdSchema, create(BidiRequestIdSchema, { requestId })));
}

/** The failure in an answer whose status is not 200. */
export async function refusal(answer: TransportAnswer, what: string): Promise<AttemptFailure> {
  let body: Uint8Array;
  try {
    body = await readBody(answer.body, limits.unaryAnswerBytes);
  } catch (error) {
    return failureOf(error, `${what} was refused with HTTP ${answer.status}, and its text was cut off`);
  }
  const { error, waitMs, cancelled, cause } = failureOfFault(decodeUnaryError(answer.status, body), body);
  const message = error.message.includes(String(answer.status))
    ? error.message
    : `${error.message} (HTTP ${answer.status} for ${what})`;
  const retryable = error.retryable && !isFinal(answer.status, error.code);
  return new AttemptFailure({ ...error, message, retryable }, { waitMs, cancelled, cause });
}

/** Statuses below 500 that pass by themselves: the request took too long, came too early, or was one of too many. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

/** Whether somebody on the way, who does not speak Connect, refuses the request itself: these two codes stand for all that has none. */
function isFinal(status: number, code: Code): boolean {
  return status < 500 && !PASSING.has(status) && (code === 'internal' || code === 'unknown');
}

type Codec = { name: string; decompress: Decompress | undefined };

function chooseCodec(answer: TransportAnswer, codecs: ReadonlyMap<string, Decompress>): Codec {
  const name = answer.header('connect-content-encoding') ?? 'identity';
  return { name, decompress: codecs.get(name) };
}

async function* readFrames(
  answer: TransportAnswer,
  codec: Codec,
  onFrame: () => void,
): AsyncGenerator<{ message: AgentServerMessage } | { end: AttemptFailure | undefined }> {
  const reader = new EnvelopeReader({ maxBytes: limits.frameBytes });
  const chunks = answer.body[Symbol.asyncIterator]();
  try {
    for (;;) {
      let next: IteratorResult<Uint8Array>;
      try {
        next = await chunks.next();
      } catch (error) {
        throw failureOf(error, 'the run stream broke off');
      }
      if (next.done === true) break;
      for (const envelope of reader.push(next.value)) {
        onFrame();
        const payload = envelope.compressed ? await expand(envelope.payload, codec) : envelope.payload;
        if (envelope.endStream) {
          const { fault } = decodeEndStream(payload);
          yield { end: fault === undefined ? undefined : failureOfFault(fault, payload) };
          return;
        }
        yield { message: decodeMessage(payload) };
      }
    }
    const cut = reader.buffered > 0 ? ` in the middle of a frame, after ${reader.buffered} bytes of it` : '';
    throw connectionFailure('Connection cut', `the server closed the run stream without an end frame${cut}`);
  } finally {
    // Whoever leaves the loop is done with the connection; a failure to close it concerns nobody any more.
    await chunks.return?.()?.catch(() => undefined);
  }
}

async function expand(payload: Uint8Array, codec: Codec): Promise<Uint8Array> {
  if (codec.decompress === undefined) {
    throw protocolFailure(`a frame is compressed, but the stream's encoding is ${codec.name}, which was not asked for`);
  }
  try {
    return await codec.decompress(payload, limits.frameBytes);
  } catch (error) {
    throw protocolFailure(`a frame of ${payload.length} bytes is not valid ${codec.name}: ${reasonOf(error)}`, error);
  }
}

function decodeMessage(payload: Uint8Array): AgentServerMessage {
  try {
    return fromBinary(AgentServerMessageSchema, payload);
  } catch (error) {
    throw protocolFailure(`a frame of ${payload.length} bytes is no AgentServerMessage: ${reasonOf(error)}`, error);
  }
}
