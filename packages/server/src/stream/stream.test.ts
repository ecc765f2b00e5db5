import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { EnvelopeReader, decodeEndStream, fault } from '@tandem/protocol';
import { AgentClientMessageSchema } from '@tandem/protocol/agent';
import type { ShellStreamSchema } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { updateMessage } from '../bridge/outbox.ts';
import { DOWNLINK_MAX_BYTES } from '../limits.ts';
import { silentLog } from '../observe/log.ts';
import type { Run } from '../run/run.ts';
import type { FrameSink } from './downlink.ts';
import type { Frame } from './frame.ts';
import { readRequestHeaders } from './request-headers.ts';
import { Stream } from './stream.ts';

const GRACE = 15_000;
const MIB = 1024 * 1024;
const turnOfTheLoop = () => new Promise<void>(resolve => setImmediate(resolve));

/** A reader that takes everything at once. */
class OpenSink implements FrameSink {
  readonly frames: Frame[] = [];
  isEnded = false;
  write(frames: readonly Frame[], written: () => void): boolean {
    this.frames.push(...frames);
    written();
    return true;
  }
  end(): void {
    this.isEnded = true;
  }
  drop(): void {}
  onDrain(): void {}
  /** The fault in the last frame. */
  get fault() {
    const [last] = new EnvelopeReader({ maxBytes: MIB }).push(this.frames.at(-1)!);
    return last?.endStream ? decodeEndStream(last.payload).fault : undefined;
  }
}

/** A stream whose run does nothing but note how it was ended. */
function newStream() {
  const clock = new ManualClock();
  const cancelled: string[] = [];
  const stream = new Stream({
    requestId: 'r',
    owner: 'ann',
    clock,
    log: silentLog,
    limits: { messageBytes: 64 * MIB, placeholderMs: 30_000, readerGraceMs: GRACE },
    startRun: () => ({ cancel: (reason: { name_: string }) => cancelled.push(reason.name_) }) as unknown as Run,
    onEnd: () => {},
  });
  const begin = () =>
    stream.accept(
      0,
      create(AgentClientMessageSchema, { message: { case: 'runRequest', value: {} } }),
      readRequestHeaders({}),
      1,
    );
  return { clock, stream, cancelled, begin };
}

describe('a stream', () => {
  it('[R19-kept-frames-bounded] ends retryably when more waits for its reader than it keeps', async () => {
    const { stream, cancelled, begin } = newStream();
    await begin();
    const large = updateMessage({
      case: 'textDelta',
      value: { $typeName: 'agent.v1.TextDeltaUpdate', text: 'x'.repeat(32 * MIB), isServerNotice: false },
    });
    for (let kept = 0; kept + 33 * MIB < DOWNLINK_MAX_BYTES; kept += 32 * MIB) stream.append(large);
    expect(stream.state.tag).toBe('running');
    stream.append(large);
    stream.append(large);
    expect(stream.state.tag).toBe('ended');
    expect(cancelled).toEqual(['buffer_overflow']);
    const sink = new OpenSink();
    stream.attach(sink);
    await turnOfTheLoop();
    expect(sink.fault).toMatchObject({ code: 'unavailable', retryable: true });
    expect(sink.fault?.detail).toContain(String(DOWNLINK_MAX_BYTES));
  });

  it('greets each reader with a heartbeat at once', async () => {
    const { stream } = newStream();
    const sink = new OpenSink();
    stream.attach(sink);
    await turnOfTheLoop();
    expect(sink.frames.map(frame => [...frame])).toEqual([[0, 0, 0, 0, 4, 0x0a, 0x02, 0x6a, 0]]);
  });

  it('cancels a run that nobody reads after the grace, counted from the last reader on', async () => {
    const { clock, stream, cancelled, begin } = newStream();
    await begin();
    clock.advance(GRACE - 1);
    const leave = stream.attach(new OpenSink());
    clock.advance(GRACE * 10);
    leave();
    clock.advance(GRACE - 1);
    expect(cancelled).toEqual([]);
    clock.advance(1);
    expect(cancelled).toEqual(['canceled']);
    expect(clock.pending).toBe(0);
  });

  it('lets whoever waits for a reader go on when one comes, and when the stream ends', async () => {
    const { stream, begin } = newStream();
    await begin();
    const first = stream.reader();
    const leave = stream.attach(new OpenSink());
    await first;
    expect(stream.reader()).toBeUndefined();
    leave();
    const second = stream.reader();
    stream.end(undefined);
    await second;
    expect(stream.reader()).toBeUndefined();
  });

  it('says how it ended once: the first end decides', async () => {
    const { stream } = newStream();
    const sink = new OpenSink();
    stream.attach(sink);
    stream.end(undefined);
    stream.end(undefined);
    await turnOfTheLoop();
    expect(sink.frames.filter(frame => frame[0] === 0x02).map(frame => [...frame])).toEqual([
      [2, 0, 0, 0, 2, 0x7b, 0x7d],
    ]);
    expect(sink.isEnded).toBe(true);
  });
});

/** A stream whose run notes what its exec bridge was told; `record` is held until the test lets it go. */
function newRecordingStream() {
  const clock = new ManualClock();
  const told: string[] = [];
  const exec = {
    isOwedAnswers: true,
    record: async (_message: unknown, seqno: number) => void told.push(`record ${seqno}`),
    deliver: () => void told.push('deliver'),
  };
  const stream = new Stream({
    requestId: 'r',
    owner: 'ann',
    clock,
    log: silentLog,
    limits: { messageBytes: MIB, placeholderMs: 30_000, readerGraceMs: GRACE },
    startRun: () => ({ cancel() {}, exec }) as unknown as Run,
    onEnd: () => {},
  });
  const append = (seqno: number, message: MessageInitShape<typeof AgentClientMessageSchema>['message']) =>
    stream.accept(seqno, create(AgentClientMessageSchema, { message }), readRequestHeaders({}), 1);
  const shell = (seqno: number, event: ShellEvent) =>
    append(seqno, { case: 'execClientMessage', value: { id: 1, message: { case: 'shellStream', value: { event } } } });
  return { stream, told, append, shell, begin: () => append(0, { case: 'runRequest', value: {} }) };
}
type ShellEvent = NonNullable<MessageInitShape<typeof ShellStreamSchema>['event']>;
const stdout: ShellEvent = { case: 'stdout', value: { data: 'made' } };
const exit: ShellEvent = { case: 'exit', value: { code: 0 } };

describe('the result of an exec', () => {
  it('is written before it is delivered, and the end of a command only once all of its output is there (R48)', async () => {
    const { told, shell, begin } = newRecordingStream();
    await begin();
    let isAcknowledged = false;
    const ended = shell(2, exit).then(() => (isAcknowledged = true));
    await turnOfTheLoop();
    expect([told, isAcknowledged]).toEqual([[], false]);
    await shell(1, stdout);
    await ended;
    expect(told).toEqual(['record 1', 'deliver', 'record 2', 'deliver']);
  });

  it('whose output never comes is acknowledged with the end of the stream, and never written', async () => {
    const { stream, told, shell, begin } = newRecordingStream();
    await begin();
    const ended = shell(2, exit);
    stream.fail(fault('superseded', 'A new attempt took over.'));
    await ended;
    expect(told).toEqual([]);
  });

  it('that crosses the end of its stream is written all the same, once (R7, R48)', async () => {
    const { stream, told, shell, begin } = newRecordingStream();
    await begin();
    stream.fail(fault('shutting_down', 'The server is shutting down.'));
    await shell(1, exit);
    await shell(1, exit);
    expect(told).toEqual(['record 1']);
  });
});
