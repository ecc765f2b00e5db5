import { elisionMark, headOf, tailOf } from './excerpt.ts';

/**
 * Output that arrives in pieces, kept as head and tail within `limit` characters (R34): a command may print for a day and
 * takes no more memory than this.
 */
export class OutputExcerpt {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = '';
  #tail: string[] = [];
  #tailLength = 0;
  #length = 0;

  constructor(limit: number) {
    this.#headLimit = Math.ceil((limit * 2) / 3);
    this.#tailLimit = Math.floor(limit / 3);
  }

  /** Characters that arrived. */
  get length(): number {
    return this.#length;
  }

  push(piece: string): void {
    this.#length += piece.length;
    const room = this.#headLimit - this.#head.length;
    if (room > 0 && this.#tailLength === 0) {
      const first = headOf(piece, room);
      this.#head += first;
      piece = piece.slice(first.length);
    }
    if (piece === '') return;
    this.#tail.push(piece);
    this.#tailLength += piece.length;
    // Joined only when twice full, so that many small pieces cost one copy each.
    if (this.#tailLength > this.#tailLimit * 2) {
      const kept = tailOf(this.#tail.join(''), this.#tailLimit);
      this.#tail = [kept];
      this.#tailLength = kept.length;
    }
  }

  /** The two ends and how many characters are missing between them; 0 when the text is whole. */
  ends(): { head: string; tail: string; elided: number } {
    const joined = this.#tail.join('');
    const whole = this.#length === this.#head.length + joined.length && joined.length <= this.#tailLimit;
    const tail = whole ? joined : tailOf(joined, this.#tailLimit);
    return { head: this.#head, tail, elided: this.#length - this.#head.length - tail.length };
  }

  /** The text, whole or with the number of characters left out in the middle. */
  text(): string {
    const { head, tail, elided } = this.ends();
    return elided === 0 ? head + tail : head + elisionMark(elided) + tail;
  }
}
