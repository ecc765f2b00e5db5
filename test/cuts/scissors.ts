import { setImmediate as immediate } from 'node:timers/promises';
import type { Attempt, Up } from './attempt.ts';
import { SIDES, cutName, seededRandom } from './cut.ts';
import type { Cut, Side } from './cut.ts';
import type { Stage } from './play.ts';

type OneCut = Omit<Cut, 'conversation' | 'then'>;

/** Counts the points of a play and cuts at the ones that were asked for. */
export class Scissors {
  readonly points: Record<Side, number>;
  readonly #stage: Stage;
  readonly #cuts: OneCut[];
  readonly #random: () => number;
  /** For windows, how they are to be permuted. */
  #variant = 0;

  constructor(
    stage: Stage,
    cut: Cut | undefined,
    points: Readonly<Record<Side, number>> = { down: 0, up: 0, before: 0, after: 0 },
  ) {
    this.points = { ...points };
    this.#stage = stage;
    this.#cuts = cut ? [cut, ...(cut.then ? [cut.then] : [])] : [];
    const name = cut ? cutName(cut) : '';
    this.#random = seededRandom([...name].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) | 0, 7));
  }

  /** Whether every cut was made. */
  get isDone(): boolean {
    return this.#cuts.length === 0;
  }

  /** The cut that is due at this point, if any. */
  #due(side: Side): OneCut | undefined {
    const index = this.points[side]++;
    const [cut] = this.#cuts;
    if (cut?.side !== side || cut.index !== index) return undefined;
    this.#cuts.shift();
    if (this.#cuts.length > 0) for (const each of SIDES) this.points[each] = 0;
    return cut;
  }

  get #attempt(): Attempt | undefined {
    const { attempt } = this.#stage;
    return attempt?.outcome ? undefined : attempt;
  }

  /**
   * `close/0` at a frame: the connection breaks with the frames of one write on their way, none of which arrived; true then.
   * They come again when the reader does.
   */
  loses(frames: number): boolean {
    const [cut] = this.#cuts;
    const first = this.points.down;
    if (
      cut?.side !== 'down' ||
      cut.kind !== 'close' ||
      cut.variant !== 0 ||
      cut.index < first ||
      cut.index >= first + frames
    )
      return false;
    this.points.down = cut.index;
    this.#due('down');
    const lost = this.#attempt;
    // what was written behind it is as lost
    lost?.batches.splice(0);
    this.#leave(1_000);
    return true;
  }

  /** Before a frame is read. */
  async atFrame(): Promise<void> {
    const cut = this.#due('down');
    if (!cut) return;
    const { kind, variant } = cut;
    const attempt = this.#attempt;
    switch (kind) {
      case 'drop': // 0: both sides notice. 1: the server does not. 2: what the client had in line still arrives.
        if (variant === 2) this.#stage.flush();
        attempt?.giveUp({ noticed: variant !== 1 });
        break;
      case 'duplicate':
        this.#again(variant);
        break;
      case 'reorder':
        this.#hold(variant);
        break;
      case 'delay':
        await this.#stage.pass(variant === 0 ? 2_500 : 20_000);
        break;
      case 'close': // 1: back after ten seconds. 2: not back within the grace. (0 is in `loses`)
        await this.#close(variant);
        break;
      case 'restart': // 0: killed. 1: killed in the middle of what the client had in line. 2: told to stop.
        if (variant === 1) await this.#flushHalf();
        if (variant === 2) this.#stage.stopServer();
        else this.#stage.kill();
    }
  }

  /** Before an append is sent; true when it was dealt with here. */
  async atAppend(up: Up): Promise<boolean> {
    const cut = this.#due('up');
    if (!cut) return false;
    const { kind, variant } = cut;
    const stage = this.#stage;
    switch (kind) {
      case 'drop': // 0: it is lost, the ones behind it arrive. 1: it arrives, its acknowledgement does not. 2: nobody notices.
        if (variant === 0) stage.flush();
        else stage.send(up);
        if (variant === 2) await stage.settle();
        this.#attempt?.giveUp({ noticed: variant !== 2 });
        return true;
      case 'duplicate': // 0: twice at once. 1: again behind the next. 2: again when all is quiet.
        stage.send(up);
        if (variant === 0) this.#repeat(up);
        else if (variant === 1) stage.afterAppends.push({ left: 1, call: () => this.#repeat(up) });
        else stage.whenQuiet.push(() => this.#repeat(up));
        return true;
      case 'reorder':
        this.#hold(variant);
        stage.window?.held.push(up);
        return true;
      case 'delay':
        await stage.pass(variant === 0 ? 2_500 : 20_000);
        return false;
      case 'close': // 0: back after one second. 1: after ten. 2: not within the grace.
        await this.#close(variant);
        return false;
      case 'restart': // 0: killed before it arrives. 1: killed while it is taken. 2: told to stop once it was taken.
        if (variant > 0) stage.send(up);
        if (variant === 2) {
          await stage.settle();
          stage.stopServer();
        } else stage.kill();
        return true;
    }
  }

  /** Before or after a write to the store, inside the server's own work; what is returned is waited for. */
  atWrite(side: 'before' | 'after'): Promise<void> | undefined {
    const cut = this.#due(side);
    if (!cut) return undefined;
    const { kind, variant } = cut;
    const stage = this.#stage;
    switch (kind) {
      case 'drop': // 2: the write ends only when the next attempt is at work.
        this.#attempt?.giveUp({ noticed: variant !== 1 });
        return variant === 2
          ? this.#until(release => void stage.whenQuiet.push(() => void stage.whenQuiet.push(release)))
          : undefined;
      case 'duplicate': // 1: while the write is on its way.
        this.#again(variant === 1 ? 0 : variant);
        return variant === 1 ? this.#until(release => void stage.whenQuiet.push(release)) : undefined;
      case 'reorder': // the write takes as long as one more append, three more, or until all is quiet
        if (variant === 2) return this.#until(release => void stage.whenQuiet.push(release));
        return this.#until(release => {
          let isReleased = false;
          const once = () => {
            if (!isReleased) release();
            isReleased = true;
          };
          stage.afterAppends.push({ left: variant === 0 ? 1 : 3, call: once });
          stage.whenQuiet.push(once);
        });
      case 'delay':
        return this.#until(release => {
          stage.whenQuiet.push(async () => {
            await stage.pass(variant === 0 ? 2_500 : 20_000);
            release();
          });
        });
      case 'close':
        void this.#close(variant);
        return undefined;
      case 'restart': // 0: killed here. 1: killed a moment later. 2: told to stop.
        if (variant === 0) stage.kill();
        else if (variant === 2) stage.stopServer();
        else
          return this.#until(
            release =>
              void immediate()
                .then(() => stage.kill())
                .then(release),
          );
        return undefined;
    }
  }

  /** Another order for the appends of a window, never the same one when there are two. */
  reorder(held: readonly Up[]): Up[] {
    if (this.#variant === 0) return [...held].reverse();
    if (this.#variant === 1) return [...held.slice(1), ...held.slice(0, 1)];
    return held
      .map(up => ({ up, key: this.#random() }))
      .sort((a, b) => a.key - b.key)
      .map(({ up }) => up);
  }

  #hold(variant: number): void {
    this.#variant = variant;
    this.#stage.window = { size: [2, 4, 6][variant] ?? 2, held: [] };
  }

  /** Sends again what was sent: 0: the last one, 1: the first one, 2: the last three, newest first. */
  #again(variant: number): void {
    const sent = this.#attempt?.sent ?? [];
    const again = variant === 0 ? sent.slice(-1) : variant === 1 ? sent.slice(0, 1) : sent.slice(-3).reverse();
    for (const up of again) this.#repeat(up);
  }

  #repeat(up: Up): void {
    const { attempt } = this.#stage;
    if (attempt?.sent.includes(up)) this.#stage.deliver(attempt, up);
  }

  /** The reader goes; 0 and 1: it comes back within the grace, 2: it does not, and the client tries anew. */
  async #close(variant: number): Promise<void> {
    if (variant < 2) {
      this.#leave(variant === 0 ? 1_000 : 10_000);
      return;
    }
    const attempt = this.#attempt;
    attempt?.giveUp({ noticed: true });
    this.#stage.whenQuiet.push(() => this.#stage.pass(20_000));
  }

  #leave(ms: number): void {
    const attempt = this.#attempt;
    if (!attempt) return;
    attempt.disconnect();
    this.#stage.whenQuiet.push(async () => {
      await this.#stage.pass(ms);
      if (!attempt.outcome && attempt.server.isAlive) attempt.connect();
    });
  }

  /** Sends what is in line and lets the server begin with it. */
  async #flushHalf(): Promise<void> {
    this.#stage.flush();
    await Promise.resolve();
  }

  #until(begin: (release: () => void) => void): Promise<void> {
    return new Promise(resolve => begin(resolve));
  }
}
