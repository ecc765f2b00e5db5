import { StringDecoder } from 'node:string_decoder';

/** Longest piece sent at once, in UTF-16 units: at most three bytes each, so below 64 KiB. */
const PIECE_CAP = 21_000;

/** Output is collected this long before it is sent, so that a chatty command does not make a message of every line. */
const COLLECT = 20;

/**
 * Turns the bytes of two outputs into pieces of text: no character is ever split, pieces keep the order in which the bytes came, and after
 * `cap` characters nothing more is given.
 */
export class OutputPieces {
  private readonly decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  private readonly onPiece: (stream: 'stdout' | 'stderr', text: string) => void;
  private readonly cap: number;
  private waiting: { stream: 'stdout' | 'stderr'; text: string } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private given = 0;

  constructor(cap: number, onPiece: (stream: 'stdout' | 'stderr', text: string) => void) {
    this.cap = cap;
    this.onPiece = onPiece;
  }

  /** Whether something was held back. */
  get cut(): boolean {
    return this.given >= this.cap;
  }

  write(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    if (!this.cut) this.add(stream, this.decoders[stream].write(chunk));
  }

  /** Gives what is left; an unfinished character becomes its replacement. */
  end(): void {
    this.add('stdout', this.decoders.stdout.end());
    this.add('stderr', this.decoders.stderr.end());
    this.flush();
  }

  private add(stream: 'stdout' | 'stderr', text: string): void {
    if (text === '' || this.cut) return;
    if (this.waiting !== undefined && this.waiting.stream !== stream) this.flush();
    this.waiting = { stream, text: (this.waiting?.text ?? '') + text };
    if (this.waiting.text.length >= PIECE_CAP) return this.flush();
    this.timer ??= setTimeout(() => this.flush(), COLLECT);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const waiting = this.waiting;
    this.waiting = undefined;
    if (waiting === undefined) return;
    const text = waiting.text.slice(0, safeCut(waiting.text, this.cap - this.given));
    this.given += text.length === waiting.text.length ? text.length : this.cap;
    for (let at = 0; at < text.length;) {
      const to = at + safeCut(text.slice(at), PIECE_CAP);
      this.onPiece(waiting.stream, text.slice(at, to));
      at = to;
    }
  }
}

/** The longest length up to `length` that does not end in the middle of a surrogate pair. */
function safeCut(text: string, length: number): number {
  if (text.length <= length) return text.length;
  const last = text.charCodeAt(length - 1);
  return last >= 0xd800 && last <= 0xdbff ? length - 1 : length;
}
