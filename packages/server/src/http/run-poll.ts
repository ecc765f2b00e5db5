import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FLAG_END_STREAM, encodeEnvelope, encodeHex, fault, limits } from '@tandem/protocol';
import { BidiPollRequestSchema, BidiPollResponseSchema } from '@tandem/protocol/aiserver';
import { RUN_SSE_REQUEST_BYTES } from '../limits.ts';
import type { FrameSink } from '../stream/downlink.ts';
import { endFrame } from '../stream/frame.ts';
import type { Frame } from '../stream/frame.ts';
import { splitFrames } from '../stream/frame-bytes.ts';
import type { Stream } from '../stream/stream.ts';
import { bearerOf } from './bearer.ts';
import { frameSink } from './frame-writer.ts';
import type { Request, Response } from './listen.ts';
import type { RouteContext } from './routes.ts';
import { readOneMessage, streamCall } from './stream-call.ts';

/** What polls remember of a stream between them: how many messages were fully written. */
const written = new WeakMap<Stream, number>();

/**
 * RunPoll (R66): what RunSSE would stream, in answers that end. A poll waits for the first message, gives what is there up to a
 * bound, and ends; the next goes on behind the last message that was fully written.
 */
export function runPoll(request: Request, response: Response, context: RouteContext): Promise<void> {
  return streamCall(request, response, 'RunPoll', async codec => {
    const { owner } = context.authenticator.authenticate(bearerOf(request));
    const requestId = readPollRequest(await readOneMessage(request, context.clock, 'RunPoll', RUN_SSE_REQUEST_BYTES));
    if (response.destroyed) return;
    const stream = context.registry.openForReader(owner, requestId);
    const out = frameSink(response, codec);
    let isOver = false;
    let detach = () => {};
    const finish = (last: Frame) => {
      if (isOver) return;
      isOver = true;
      cancelWait();
      out.write([last], () => {});
      out.end();
      detach();
    };
    const cancelWait = context.clock.after(limits.pollWaitMs, () => finish(endFrame(undefined)));
    const sink: FrameSink = {
      write(frames, done) {
        if (isOver) return false;
        const first = written.get(stream) ?? 0;
        const single = splitFrames(frames);
        const { messages, end } = pollMessages(single, first);
        const settle = () => {
          written.set(stream, first + single.length);
          done();
          finish(end ?? endFrame(undefined));
        };
        if (messages.length > 0) out.write(messages, settle);
        else settle(); // a fault alone: it is the end of the poll itself
        return false; // one batch a poll: the rest waits for the next
      },
      end() {},
      drop() {
        finish(endFrame(undefined));
      },
      onDrain() {},
    };
    response.on('close', () => {
      isOver = true;
      cancelWait();
      detach();
    });
    detach = stream.attach(sink, { polls: true });
  });
}

/**
 * Frames of a stream as the messages of a poll. Its own end frame becomes `eof` on the last message; one with a fault ends the
 * poll itself.
 */
function pollMessages(frames: readonly Frame[], first: number): { messages: Frame[]; end: Frame | undefined } {
  const last = frames.at(-1)!;
  const isEnd = ((last[0] ?? 0) & FLAG_END_STREAM) !== 0;
  const failed = isEnd && last.length > limits.envelopeHeadBytes + 2; // more than `{}`
  const data = isEnd ? frames.slice(0, -1) : frames;
  const eof = isEnd && !failed;
  const messages = data.map((frame, index) =>
    message(first + index, encodeHex(frame.subarray(limits.envelopeHeadBytes)), eof && index === data.length - 1),
  );
  if (eof && data.length === 0) messages.push(message(first, '', true));
  return { messages, end: failed ? last : undefined };
}

function message(seqno: number, data: string, eof: boolean): Frame {
  const response = create(BidiPollResponseSchema, { seqno: BigInt(seqno), data, ...(eof ? { eof } : {}) });
  return encodeEnvelope(toBinary(BidiPollResponseSchema, response));
}

function readPollRequest(bytes: Uint8Array): string {
  let requestId: string | undefined;
  try {
    requestId = fromBinary(BidiPollRequestSchema, bytes).requestId?.requestId;
  } catch (cause) {
    throw fault('malformed_message', 'The request of RunPoll is no BidiPollRequest.', { cause });
  }
  if (!requestId)
    throw fault('malformed_message', 'request_id is empty. Send the id under which the run request is appended.');
  return requestId;
}
