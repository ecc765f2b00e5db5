import type { TextBranch } from '../bridge/outbox.ts';
import { writeShortText } from './delta-frame.ts';
import type { Frame } from './frame.ts';
import { room } from './frame-bytes.ts';

const NO_SLAB = Buffer.alloc(0);

/**
 * Frames that wait, as pieces of whole frames. Short texts that come one after the other are written side by side and stay one
 * piece, so that a thousand of them cost no more objects than one.
 */
export class FrameQueue {
  #pieces: Frame[] = [];
  /** The piece that grows: bytes of a slab from and to; none when both are equal. */
  #slab = NO_SLAB;
  #from = 0;
  #to = 0;

  get isEmpty(): boolean {
    return this.#pieces.length === 0 && this.#from === this.#to;
  }

  push(frame: Frame): void {
    this.#close();
    this.#pieces.push(frame);
  }

  /** Writes a short text; returns the bytes of its frame, 0 when the text is another one and was not taken. */
  pushText(branch: TextBranch, text: string): number {
    const bytes = writeShortText(branch, text);
    if (bytes === 0) return 0;
    const from = room.used - bytes;
    if (this.#slab !== room.slab || this.#to !== from) {
      this.#close();
      this.#slab = room.slab;
      this.#from = from;
    }
    this.#to = room.used;
    return bytes;
  }

  /** Gives out everything. */
  take(): Frame[] {
    this.#close();
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** Puts pieces back in front. */
  putBack(pieces: readonly Frame[]): void {
    this.#pieces = [...pieces, ...this.#pieces];
  }

  #close(): void {
    if (this.#from === this.#to) return;
    this.#pieces.push(this.#slab.subarray(this.#from, this.#to));
    // an idle stream keeps no slab
    this.#slab = NO_SLAB;
    this.#from = this.#to = 0;
  }
}
