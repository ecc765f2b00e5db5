import { create } from '@bufbuild/protobuf';
import { ConversationStateStructureSchema } from '@tandem/protocol/agent';
import { setImmediate as immediate } from 'node:timers/promises';
import type { Store } from '../../packages/server/src/store/port.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Attempt } from './attempt.ts';
import type { Outcome, Up } from './attempt.ts';
import { Branches } from './branches.ts';
import { answerBlob, answerExec } from './client-answers.ts';
import { ClientSide } from './client-side.ts';
import type { Conversation, ScriptedTurn } from './conversation.ts';
import { compareTurns } from './played.ts';
import type { PlayOptions, Played, Snapshot, TurnEnd } from './played.ts';
import { scriptedCatalogue } from './scripted-model.ts';
import { Scissors } from './scissors.ts';
import { ServerProcess, writeAgain } from './server-process.ts';
import { borrowStore } from './play-store.ts';
import type { StoreWrite } from './server-process.ts';

/** Attempts at one turn; a stock client makes more, one or two cuts need three. */
const ATTEMPTS = 6;
/** Steps of half a second without anything happening, after which a play hangs: above every deadline of the server. */
const IDLE_STEPS = 1_500;

/** Plays a conversation from its first turn to its last with at most two cuts, going on after each as the stock client does. */
export async function play(conversation: Conversation, options: PlayOptions = {}): Promise<Played> {
  const { store, owner } = await borrowStore();
  const stage = new Stage(conversation, options, store, owner);
  const onRejection = (error: unknown) => void stage.violations.push(`unhandled rejection: ${String(error)}`);
  process.on('unhandledRejection', onRejection);
  const remove = options.plant?.install?.();
  try {
    return await stage.play();
  } finally {
    remove?.();
    process.off('unhandledRejection', onRejection);
  }
}

/** A conversation on its way: the server of the hour, the client, and the clock between them. */
export class Stage {
  readonly violations: string[] = [];
  readonly clock: ManualClock;
  readonly client: ClientSide;
  attempt: Attempt | undefined;
  server: ServerProcess;
  /** What is to happen once nothing moves any more, in order. */
  readonly whenQuiet: (() => void | Promise<void>)[] = [];
  /** What is to happen after so many more appends. */
  readonly afterAppends: { left: number; call(): void }[] = [];
  /** Appends that are held back until there are so many of them, then sent in another order. */
  window: { readonly size: number; readonly held: Up[] } | undefined;
  readonly #conversation: Conversation;
  readonly #options: PlayOptions;
  readonly #scissors: Scissors;
  readonly #store: Store;
  readonly #owner: string;
  readonly #from: Snapshot | undefined;
  readonly #writes: StoreWrite[] = [];
  readonly #before: Snapshot[] = [];
  readonly #after = new Map<number, TurnEnd>();
  readonly #branches: Branches;
  #activity = 0;
  #ticking = 0;
  #ids = 0;
  #requests = 0;
  #sinceHeartbeat = 0;

  constructor(conversation: Conversation, options: PlayOptions, store: Store, owner: string) {
    const { cut, uncut, plant } = options;
    const from = cut && uncut?.before.findLast(({ points }) => points[cut.side] <= cut.index);
    this.#from = from;
    this.#conversation = conversation;
    this.#options = options;
    this.#owner = owner;
    this.clock = new ManualClock(from?.now);
    this.#ids = from?.ids ?? 0;
    this.#requests = from?.requests ?? 0;
    this.#scissors = new Scissors(this, cut, from?.points);
    this.client = new ClientSide(
      conversation.hands(),
      create(ConversationStateStructureSchema, conversation.state?.() ?? {}),
    );
    if (from) this.client.restore(from.client);
    this.#store = plant?.store?.(store) ?? store;
    this.#branches = new Branches(this.violations);
    this.server = this.startServer();
  }

  // ---- the server

  startServer(): ServerProcess {
    const violate = (level: string) => (fields: Readonly<Record<string, unknown>>, text: string) =>
      void this.violations.push(`the server logged at ${level}: ${text} ${String(fields['error'] ?? '')}`);
    return new ServerProcess({
      store: this.#store,
      clock: this.clock,
      identity: { uuid: () => `uuid_${++this.#ids}`, callId: () => `call_${++this.#ids}`, random: () => 0.5 },
      log: { debug() {}, info() {}, warn() {}, error: violate('error') },
      catalogue: server =>
        scriptedCatalogue(this.#conversation, {
          called: request => {
            if (server.isAlive) this.#branches.called(request);
          },
          tick: async () => {
            this.#activity++;
            this.#ticking++;
            await immediate();
            this.#ticking--;
            if (!server.isAlive) await new Promise(() => {});
          },
        }),
      hooks: {
        write: (side, name, details) => {
          this.#activity++;
          if (side === 'after') {
            this.#writes.push({ name, details });
            if (name === 'recordExec') this.client.recorded(details);
          }
          return this.#scissors.atWrite(side);
        },
      },
    });
  }

  /** The process ends at once; what it had not written is lost. The client sees its connection break. */
  kill(): void {
    this.server.kill();
    this.attempt?.giveUp({ noticed: false });
    this.server = this.startServer();
  }

  /** The process is told to end: it still says so on every stream. */
  stopServer(): void {
    this.server.registry.stop();
    this.server = this.startServer();
  }

  // ---- the play

  async play(): Promise<Played> {
    const { turns } = this.#conversation;
    try {
      for (const { name, details } of this.#from?.writes ?? [])
        await writeAgain(this.#store, this.#owner, name, details);
      this.#writes.push(...(this.#from?.writes ?? []));
      let cutIn = this.#options.cut ? turns.length : -1;
      for (let index = this.#from?.turn ?? 0; index < turns.length; index++) {
        if (!this.#options.cut) this.#before.push(this.#snapshot(index));
        const text = await this.#turn(turns[index]!, index);
        this.#after.set(index, {
          text,
          lines: this.client.lines(),
          files: [...this.client.hands.files].sort(([a], [b]) => (a < b ? -1 : 1)),
        });
        this.violations.push(...compareTurns(index, this.#after.get(index)!, this.#options.uncut?.after.get(index)));
        if (cutIn >= 0 && index > cutIn) break;
        if (this.#scissors.isDone) cutIn = Math.min(cutIn, index);
      }
      await this.#close();
      this.violations.push(...this.client.checkResults());
    } catch (error) {
      this.violations.push(
        `the play broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    }
    return {
      violations: this.violations,
      points: this.#scissors.points,
      after: this.#after,
      before: this.#before,
      isCut: this.#scissors.isDone,
    };
  }

  #snapshot(turn: number): Snapshot {
    return {
      turn,
      now: this.clock.now(),
      ids: this.#ids,
      requests: this.#requests,
      points: { ...this.#scissors.points },
      client: this.client.snapshot(),
      writes: [...this.#writes],
    };
  }

  /** One turn with as many attempts as it takes (stock client, §2 of its description). Returns the text of the last one. */
  async #turn(turn: ScriptedTurn, index: number): Promise<string> {
    const runId = `run-${index}`;
    this.client.beginTurn();
    for (let number = 0; number < ATTEMPTS; number++) {
      const attempt = new Attempt({
        requestId: `request-${++this.#requests}`,
        owner: this.#owner,
        server: this.server,
        wrapSink: sink => this.#options.plant?.sink?.(sink) ?? sink,
        onActivity: () => this.#activity++,
      });
      this.attempt = attempt;
      this.window = undefined;
      this.client.beginAttempt();
      this.#branches.begin(this.client);
      attempt.enqueue(this.client.runRequest(turn, runId));
      attempt.connect();
      const outcome = await this.#drive(attempt);
      await this.#settleAll();
      for (const { frames } of attempt.batches.splice(0)) for (const frame of frames) this.#receive(attempt, frame);
      for (const problem of attempt.watch.faults) this.violations.push(`${attempt.requestId}: ${problem}`);
      const { fault } = attempt.watch;
      if (outcome === 'ended') {
        attempt.disconnect();
        return attempt.watch.text;
      }
      if (outcome === 'failed') {
        attempt.disconnect();
        const isFinal =
          fault !== undefined && !fault.retryable && fault.code !== 'canceled' && fault.code !== 'aborted';
        if (isFinal) throw new Error(`the turn failed for good: ${fault.name_} ${fault.detail}`);
      }
      await this.pass(2_000);
    }
    throw new Error(`the turn did not end in ${ATTEMPTS} attempts`);
  }

  async #drive(attempt: Attempt): Promise<Outcome> {
    let idle = 0;
    for (;;) {
      if (attempt.outcome) return attempt.outcome;
      const batch = attempt.batches.shift();
      if (batch) {
        idle = 0;
        if (this.#scissors.loses(batch.frames.length)) continue;
        batch.written();
        for (const frame of batch.frames) {
          // what stands behind an end frame is read too: nothing may
          if (!attempt.outcome) await this.#scissors.atFrame();
          if (this.#isGone(attempt)) break;
          this.#receive(attempt, frame);
        }
        continue;
      }
      const up = attempt.queue.shift();
      if (up) {
        idle = 0;
        if (this.window) {
          this.window.held.push(up);
          if (this.window.held.length >= this.window.size) this.releaseWindow();
        } else if (!(await this.#scissors.atAppend(up))) this.send(up);
        await this.settle();
        continue;
      }
      await this.settle();
      if (attempt.outcome || attempt.batches.length > 0 || attempt.queue.length > 0) continue;
      if (this.window && this.window.held.length > 0) {
        this.releaseWindow();
        continue;
      }
      const next = this.whenQuiet.shift();
      if (next) {
        await next();
        continue;
      }
      if (++idle > IDLE_STEPS) throw new Error(`${attempt.requestId} hangs: nothing happened for ${IDLE_STEPS / 2} s`);
      await this.pass(500);
    }
  }

  #isGone({ outcome }: Attempt): boolean {
    return outcome === 'given-up';
  }

  // ---- up

  /** Sends an append, without waiting for what comes of it. */
  send(up: Up): void {
    const { attempt } = this;
    if (!attempt) return;
    attempt.sent.push(up);
    this.deliver(attempt, up);
    for (const waiting of [...this.afterAppends]) {
      if (--waiting.left > 0) continue;
      this.afterAppends.splice(this.afterAppends.indexOf(waiting), 1);
      waiting.call();
    }
  }

  deliver(attempt: Attempt, up: Up): void {
    const { server } = attempt;
    if (!server.isAlive) return;
    this.client.sending(up);
    const acknowledged = server.registry.accept({
      owner: this.#owner,
      requestId: attempt.requestId,
      seqno: BigInt(up.seqno),
      ...this.client.decode(up),
      headers: this.client.headers(),
    });
    acknowledged.then(
      () => {
        // a client that went away hears of nothing
        if (server.isAlive && attempt.outcome !== 'given-up') this.client.acknowledged(up);
      },
      (error: unknown) => {
        if (server === this.server) this.violations.push(`append ${up.seqno} was refused: ${String(error)}`);
      },
    );
  }

  /** Sends everything that is in line, in one go. */
  flush(): void {
    const queue = this.attempt?.queue.splice(0) ?? [];
    for (const up of queue) this.send(up);
  }

  releaseWindow(): void {
    const { held = [] } = this.window ?? {};
    this.window = undefined;
    for (const up of this.#scissors.reorder(held)) this.send(up);
  }

  // ---- down

  #receive(attempt: Attempt, frame: Uint8Array): void {
    const down = attempt.read(frame);
    if ('end' in down) {
      attempt.watch.end(down.end.fault);
      attempt.outcome = attempt.watch.isSuccess ? 'ended' : 'failed';
      return;
    }
    const { message } = down.message;
    attempt.watch.message(down.message);
    if (message.case === 'kvServerMessage') this.violations.push(...answerBlob(attempt, this.client, message.value));
    else if (message.case === 'execServerMessage')
      this.violations.push(...answerExec(attempt, this.client, message.value));
    else if (message.case === 'conversationCheckpointUpdate')
      this.violations.push(...this.client.takeCheckpoint(message.value));
  }

  // ---- time

  /** Lets the process work until nothing moves, or something came down. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 2;) {
      const before = this.#activity;
      await immediate();
      if (this.attempt && this.attempt.batches.length > 0) return;
      quiet = this.#activity === before && this.#ticking === 0 ? quiet + 1 : 0;
    }
  }

  /** Everything that was held back happens, and the process comes to rest. */
  async #settleAll(): Promise<void> {
    this.afterAppends.splice(0).forEach(({ call }) => call());
    for (let next = this.whenQuiet.shift(); next; next = this.whenQuiet.shift()) await next();
    for (let turn = 0; turn < 3; turn++) await immediate();
  }

  /** Lets time pass in steps of half a second, with the client's heartbeats every five. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      this.clock.advance(500);
      this.#sinceHeartbeat += 500;
      const { attempt } = this;
      if (this.#sinceHeartbeat >= 5_000 && attempt && !attempt.outcome) {
        this.#sinceHeartbeat = 0;
        if (attempt.sent.length > 0) this.deliver(attempt, attempt.number({ case: 'clientHeartbeat', value: {} }));
      }
      await immediate();
      await immediate();
    }
  }

  // ---- the end

  /** Once the clock ran out, nothing is left of any run. */
  async #close(): Promise<void> {
    await this.#settleAll();
    for (let minute = 0; minute < 3; minute++) {
      this.clock.advance(60_000);
      await immediate();
      await immediate();
    }
    const { registry } = this.server;
    if (registry.runCount > 0) this.violations.push(`${registry.runCount} runs are left at the end`);
    if (registry.streamCount > 0) this.violations.push(`${registry.streamCount} streams are left at the end`);
    registry.stop();
    await immediate();
    if (this.clock.pending > 0) this.violations.push(`${this.clock.pending} timers are left at the end`);
  }
}
