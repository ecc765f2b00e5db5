import { create, toBinary } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { fitsExec } from '@tandem/protocol';
import {
  ExecClientControlMessageSchema,
  ExecClientMessageSchema,
  ExecServerMessageSchema,
} from '@tandem/protocol/agent';
import type { ExecServerMessage } from '@tandem/protocol/agent';
import type { Clock } from './clock.ts';
import { Execution } from './execution.ts';
import { hasSideEffect } from './executor.ts';
import type { AnyExecutor, ExecKind, Executors } from './executor.ts';
import { reasonOf } from './failure.ts';
import { limits } from './limits.ts';
import type { ClientBranch } from './uplink.ts';

type ControlBranch = NonNullable<MessageInitShape<typeof ExecClientControlMessageSchema>['message']>;

/** What an attempt lends to the answers. */
export interface AnswerPort {
  /** The request_id of the attempt. */
  readonly requestId?: string;
  /** Sends one message up; resolves when the next may come. Rejects only when the message cannot be encoded. */
  send(message: ClientBranch): Promise<void>;
  /** One of our own execs is under way: the server's silence does not count. */
  hold(): void;
  release(): void;
}

/**
 * Runs what the server asks for (§17) and sends what comes of it (§10, §11). It lives as long as the run: what an earlier attempt began
 * and the next attempt asks for again is answered from that first execution.
 */
export class ExecAnswers {
  private readonly executors = new Map<ExecKind, AnyExecutor>();
  private readonly clock: Clock;
  private readonly onChange: () => void;
  private readonly all = new Set<Execution>();
  /** Executions with a side effect of earlier attempts, for the attempts to come. */
  private readonly earlier = new Map<string, Execution>();

  constructor(options: {
    executors: Executors;
    clock: Clock;
    /** Something was changed on this machine. */ onChange: () => void;
  }) {
    for (const executor of options.executors) this.executors.set(executor.kind, executor);
    this.clock = options.clock;
    this.onChange = options.onChange;
  }

  /** The answers for one attempt's stream; ids belong to it alone (R14). */
  open(port: AnswerPort): ExecStream {
    return new ExecStream({
      port,
      clock: this.clock,
      start: message => this.start(message, port.requestId),
      keep: execution => this.keep(execution),
    });
  }

  /** Stops everything under way, shells with their process groups, and waits a moment for it. */
  async abortAll(reason: string): Promise<void> {
    const running = [...this.all];
    for (const execution of running) execution.abort(reason);
    await Promise.all(running.map(execution => execution.over()));
  }

  private start(message: ExecServerMessage, requestId: string | undefined): Execution {
    const kind = message.message.case;
    // A branch of a newer schema decodes as no branch at all.
    if (kind === undefined) throw new Error('this client does not know the kind of exec that was asked for');
    const executor = this.executors.get(kind);
    if (executor === undefined) throw new Error(`this client has no executor for ${kind}`);
    const { fingerprint, toolCallId } = identify(message);
    const key = earlierKey(kind, toolCallId, fingerprint);
    const known = this.earlier.get(key);
    if (known !== undefined) {
      // Once: a server that asks a third time means it.
      this.earlier.delete(key);
      return known;
    }
    if (this.all.size >= limits.execsAtOnce) throw new Error(`more than ${limits.execsAtOnce} execs are under way`);
    const execution = new Execution({
      executor,
      args: message.message.value,
      toolCallId,
      fingerprint,
      clock: this.clock,
      requestId,
    });
    this.all.add(execution);
    void execution.over().then(() => {
      this.all.delete(execution);
      if (execution.changedSomething) this.onChange();
    });
    return execution;
  }

  /** An attempt is over. Reading can be asked for anew; what changes something goes on, so that it need not run twice. */
  private keep(execution: Execution): void {
    if (execution.aborted) return;
    if (!hasSideEffect(execution.kind) || execution.toolCallId === '')
      return execution.abort('the stream that asked is gone');
    this.earlier.set(earlierKey(execution.kind, execution.toolCallId, execution.fingerprint), execution);
    let kept = [...this.earlier.values()].reduce((sum, one) => sum + one.size, 0);
    for (const [key, one] of this.earlier) {
      if (kept <= limits.answersKeptBytes) return;
      if (!one.settled) continue;
      kept -= one.size;
      this.earlier.delete(key);
    }
  }
}

/** The execs of one stream. */
export class ExecStream {
  private readonly port: AnswerPort;
  private readonly clock: Clock;
  private readonly start: (message: ExecServerMessage) => Execution;
  private readonly keep: (execution: Execution) => void;
  private readonly byId = new Map<number, Execution>();
  private closed = false;
  /** Ids only grow (R14): one below this was answered and forgotten. */
  private forgottenBelow = 0;

  constructor(options: {
    port: AnswerPort;
    clock: Clock;
    start: (message: ExecServerMessage) => Execution;
    keep: (execution: Execution) => void;
  }) {
    this.port = options.port;
    this.clock = options.clock;
    this.start = options.start;
    this.keep = options.keep;
  }

  /** Answers one exec. The same id with the same content gets the first answer again; with another content it is refused. */
  ask(message: ExecServerMessage): void {
    const known = this.byId.get(message.id);
    if (known === undefined && message.id < this.forgottenBelow) {
      return this.refuse(message.id, `exec ${message.id} was answered long ago; its answer is no longer kept`);
    }
    if (known !== undefined && known.fingerprint !== identify(message).fingerprint) {
      return this.refuse(message.id, `exec ${message.id} was already used for another ${known.kind}`);
    }
    let execution = known;
    try {
      execution ??= this.start(message);
    } catch (error) {
      return this.refuse(message.id, error instanceof Error ? error.message : String(error));
    }
    this.byId.set(message.id, execution);
    // A stream that still flows needs no second copy; everything else is answered as often as it is asked.
    if (known !== undefined && !known.settled && message.message.case === 'shellStreamArgs') return;
    void this.deliver(execution, message.id, message.execId);
  }

  /** The server does not want exec `id` any more (§18). An unknown id is over already. */
  abort(id: number): void {
    this.byId.get(id)?.abort('aborted by the server');
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const execution of this.byId.values()) this.keep(execution);
    this.byId.clear();
  }

  private async deliver(execution: Execution, id: number, execId: string): Promise<void> {
    this.port.hold();
    const stopBeat = this.beat(id);
    try {
      const answers = execution.follow();
      let count = 0;
      for (;;) {
        const next = await answers.next();
        if (this.closed) return;
        if (next.done === true) {
          if (next.value.thrown !== undefined) return this.refuse(id, next.value.thrown.message);
          if (count === 0) return this.refuse(id, `${execution.kind} gave no answer`);
          this.control({ case: 'streamClose', value: { id } });
          return;
        }
        if (!fitsExec(execution.kind, next.value.case)) {
          return this.refuse(id, `${next.value.case} does not answer ${execution.kind}`);
        }
        count++;
        const value = create(ExecClientMessageSchema, {
          id,
          execId,
          message: next.value,
          localExecutionTimeMs: Math.min(Math.round(execution.elapsed), 0x7fffffff),
        });
        await this.port.send({ case: 'execClientMessage', value });
      }
    } catch (error) {
      // An executor gave something that is no message. That call fails, and nothing else.
      this.refuse(id, `the answer to ${execution.kind} cannot be encoded: ${reasonOf(error)}`);
    } finally {
      stopBeat();
      this.port.release();
      this.forget();
    }
  }

  private refuse(id: number, error: string): void {
    this.control({ case: 'throw', value: { id, error } });
    this.control({ case: 'streamClose', value: { id } });
  }

  private control(message: ControlBranch): void {
    if (this.closed) return;
    void this.port.send({
      case: 'execClientControlMessage',
      value: create(ExecClientControlMessageSchema, { message }),
    });
  }

  private beat(id: number): () => void {
    let stop = () => undefined as void;
    const arm = () => {
      stop = this.clock.after(limits.execHeartbeat, () => {
        this.control({ case: 'heartbeat', value: { id } });
        arm();
      });
    };
    arm();
    return () => stop();
  }

  /** Drops the oldest answers beyond the bound; execs still under way stay. */
  private forget(): void {
    let kept = 0;
    for (const execution of this.byId.values()) kept += execution.size;
    for (const [id, execution] of this.byId) {
      if (kept <= limits.answersKeptBytes) return;
      if (!execution.settled) continue;
      kept -= execution.size;
      this.byId.delete(id);
      this.forgottenBelow = Math.max(this.forgottenBelow, id + 1);
    }
  }
}

function earlierKey(kind: ExecKind, toolCallId: string, fingerprint: string): string {
  return `${kind}\n${toolCallId}\n${fingerprint}`;
}

/** What makes two execs the same: the branch and its content, whatever their numbers (S17). */
function identify(message: ExecServerMessage): { fingerprint: string; toolCallId: string } {
  const bytes = toBinary(ExecServerMessageSchema, create(ExecServerMessageSchema, { message: message.message }));
  const value = message.message.value as { toolCallId?: unknown } | undefined;
  return {
    fingerprint: `${bytes.length}:${digest(bytes)}`,
    toolCallId: typeof value?.toolCallId === 'string' ? value.toolCallId : '',
  };
}

/** A 53-bit digest. Nobody gains by a collision: the two questions come from the same server. */
function digest(bytes: Uint8Array): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (const byte of bytes) {
    high = Math.imul(high ^ byte, 2654435761);
    low = Math.imul(low ^ byte, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36);
}
