import type { Clock } from '../clock.ts';

/** One message as it was appended. */
export interface Appended<T> {
  readonly seqno: number;
  readonly message: T;
  readonly bytes: number;
}

/** What happened to an append. `late`: its number was delivered before. `far`: so far ahead that it is not even held. */
export type Taken = 'delivered' | 'held' | 'duplicate' | 'far' | 'overflow';

export interface InboxOptions<T> {
  readonly clock: Clock;
  readonly gapGraceMs: number;
  readonly maxHeld: number;
  readonly maxHeldBytes: number;
  /** Called for each message, in order; for `urgent` ones at once. */
  deliver(message: T): void;
  /** Heartbeats and cancels do not wait behind a gap (R11). */
  urgent(message: T): boolean;
  /** Whether this message may be the first of a client that starts to count at 1 (R10). */
  starts(message: T): boolean;
  /** A number stayed missing for the grace time; called once. */
  onGap(missing: number): void;
}

/**
 * Puts the appends of one request stream in order (R10, R11): the next number is delivered, a higher one held, a seen one
 * dropped. HTTP arrival order is not message order.
 */
export class Inbox<T> {
  readonly #options: InboxOptions<T>;
  #next = 0;
  /** Numbers above `#next` that came: held messages, or undefined for urgent ones that were delivered already. */
  readonly #ahead = new Map<number, Appended<T> | undefined>();
  #heldBytes = 0;
  #cancelGap: (() => void) | undefined;
  #closed = false;

  constructor(options: InboxOptions<T>) {
    this.#options = options;
  }

  /** The number that is waited for. */
  get next(): number {
    return this.#next;
  }

  /** Whether this number came before. */
  has(seqno: number): boolean {
    return seqno < this.#next || this.#ahead.has(seqno);
  }

  push(appended: Appended<T>): Taken {
    const { seqno, message, bytes } = appended;
    const { maxHeld, maxHeldBytes, urgent, starts, deliver } = this.#options;
    if (this.#closed || this.has(seqno)) return 'duplicate';
    if (this.#next === 0 && seqno === 1 && starts(message)) this.#next = 1;
    const isUrgent = urgent(message);
    if (seqno === this.#next) {
      this.#next++;
      deliver(message);
      this.#release();
      return 'delivered';
    }
    if (isUrgent) deliver(message);
    if (this.#closed) return 'delivered';
    if (seqno - this.#next > maxHeld * 4) {
      this.#watchGap();
      return 'far';
    }
    if (this.#ahead.size >= maxHeld || (!isUrgent && this.#heldBytes + bytes > maxHeldBytes)) return 'overflow';
    this.#ahead.set(seqno, isUrgent ? undefined : appended);
    if (!isUrgent) {
      this.#heldBytes += bytes;
      this.#watchGap();
    }
    return isUrgent ? 'delivered' : 'held';
  }

  /** Nothing is delivered any more; what is held is let go. */
  close(): void {
    this.#closed = true;
    this.#cancelGap?.();
    this.#cancelGap = undefined;
    this.#ahead.clear();
    this.#heldBytes = 0;
  }

  #release(): void {
    while (!this.#closed && this.#ahead.has(this.#next)) {
      const held = this.#ahead.get(this.#next);
      this.#ahead.delete(this.#next);
      this.#next++;
      if (!held) continue;
      this.#heldBytes -= held.bytes;
      this.#options.deliver(held.message);
    }
    this.#cancelGap?.();
    this.#cancelGap = undefined;
    if (!this.#closed && this.#heldBytes > 0) this.#watchGap();
  }

  #watchGap(): void {
    if (this.#cancelGap || this.#closed) return;
    const missing = this.#next;
    this.#cancelGap = this.#options.clock.after(this.#options.gapGraceMs, () => {
      this.#cancelGap = undefined;
      if (!this.#closed) this.#options.onGap(missing);
    });
  }
}
