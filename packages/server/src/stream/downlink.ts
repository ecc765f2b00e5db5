import type { TextBranch } from '../bridge/outbox.ts';
import type { Frame } from './frame.ts';
import { FrameQueue } from './frame-queue.ts';

/**
 * Where frames go: one open response. `write` takes pieces of whole frames, calls `written` once they left this process, and
 * returns false when it wants to be left alone until `onDrain` is called.
 */
export interface FrameSink {
  write(frames: readonly Frame[], written: () => void): boolean;
  /** Ends the response after everything that was written. */
  end(): void;
  /** The stream has another reader, so nothing more comes here: lets go of the connection at once. */
  drop(): void;
  onDrain(call: () => void): void;
}

/**
 * The frames of one stream on their way to whoever reads it (R19). Frames wait here until they were fully written; a reader that
 * comes after another gets the ones that were not, in order. All that is appended in one tick goes out in one write.
 */
export class Downlink {
  readonly #queue = new FrameQueue();
  #queuedBytes = 0;
  /** Given to the sink, not yet written; they go back to the front of the queue when the sink is lost. */
  #inFlight: Frame[][] = [];
  #sink: FrameSink | undefined;
  #blocked = false;
  #scheduled = false;
  #ended = false;
  #lastWriteAt = 0;
  readonly #now: () => number;
  readonly #pauseBytes: number;
  #drained: { promise: Promise<void>; resolve: () => void } | undefined;
  #onDone: (() => void) | undefined;

  constructor(options: { now: () => number; pauseBytes: number }) {
    this.#now = options.now;
    this.#pauseBytes = options.pauseBytes;
  }

  /** Bytes not yet fully written. */
  get pendingBytes(): number {
    return this.#queuedBytes;
  }
  get hasReader(): boolean {
    return this.#sink !== undefined;
  }
  /** Whether every frame, the last one included, left the process. */
  get isDone(): boolean {
    return this.#ended && this.#queue.isEmpty && this.#inFlight.length === 0;
  }
  /** When something was last written to the present reader. */
  get lastWriteAt(): number {
    return this.#lastWriteAt;
  }
  /** Whether a heartbeat would be heard and is not pushed aside by frames that wait. */
  get isIdle(): boolean {
    return this.#sink !== undefined && !this.#ended && this.#queue.isEmpty && !this.#blocked;
  }

  append(frame: Frame): void {
    if (this.#ended) return;
    this.#queue.push(frame);
    this.#grow(frame.length);
  }

  /** Appends a short text, which is most of what is said; false when the text is another one and was not taken. */
  appendText(branch: TextBranch, text: string): boolean {
    if (this.#ended) return true;
    const bytes = this.#queue.pushText(branch, text);
    if (bytes === 0) return false;
    this.#grow(bytes);
    return true;
  }

  #grow(bytes: number): void {
    this.#queuedBytes += bytes;
    this.#schedule();
  }

  /** The last frame; the response ends behind it. */
  end(frame: Frame): void {
    if (this.#ended) return;
    this.append(frame);
    this.#ended = true;
    // nothing comes any more that would have to wait for the reader
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  /** Called once when everything left the process. */
  onDone(call: () => void): void {
    if (this.isDone) call();
    else this.#onDone = call;
  }

  /** Undefined while the reader keeps up; else resolves when it has caught up or the stream has ended. */
  ready(): Promise<void> | undefined {
    if (this.#ended || this.#queuedBytes < this.#pauseBytes) return undefined;
    if (!this.#drained) {
      let resolve = () => {};
      const promise = new Promise<void>(done => (resolve = done));
      this.#drained = { promise, resolve };
    }
    return this.#drained.promise;
  }

  /** Gives the stream to a reader, taking it from the one before. The returned function gives it up; late calls do nothing. */
  attach(sink: FrameSink): () => void {
    const earlier = this.#sink;
    this.#release();
    this.#sink = sink;
    // unread and never written again, it would stay open for as long as a vanished client does not say so
    if (earlier !== sink) earlier?.drop();
    this.#blocked = false;
    this.#lastWriteAt = this.#now();
    sink.onDrain(() => {
      if (this.#sink !== sink) return;
      this.#blocked = false;
      this.#schedule();
    });
    this.#schedule();
    return () => {
      if (this.#sink !== sink) return;
      this.#release();
    };
  }

  #release(): void {
    this.#sink = undefined;
    if (this.#inFlight.length === 0) return;
    this.#queue.putBack(this.#inFlight.flat());
    this.#inFlight = [];
  }

  /** One write a tick: whatever the rest of this tick appends goes out with it. */
  #schedule(): void {
    if (this.#scheduled || this.#blocked || !this.#sink || this.#queue.isEmpty) return;
    this.#scheduled = true;
    setImmediate(flush, this);
  }

  /** Writes what waits, once a tick. */
  flush(): void {
    this.#scheduled = false;
    const sink = this.#sink;
    if (!sink || this.#blocked || this.#queue.isEmpty) return;
    const frames = this.#queue.take();
    let bytes = 0;
    for (const frame of frames) bytes += frame.length;
    this.#inFlight.push(frames);
    this.#lastWriteAt = this.#now();
    const open = sink.write(frames, () => {
      if (this.#sink !== sink) return;
      this.#inFlight.shift();
      this.#queuedBytes -= bytes;
      this.#settle();
    });
    if (!open) this.#blocked = true;
    if (this.#ended) sink.end();
  }

  #settle(): void {
    if (this.#drained && this.#queuedBytes < this.#pauseBytes) {
      this.#drained.resolve();
      this.#drained = undefined;
    }
    if (this.isDone) {
      const done = this.#onDone;
      this.#onDone = undefined;
      done?.();
    }
  }
}

const flush = (downlink: Downlink) => downlink.flush();
