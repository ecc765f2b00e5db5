import type { AgentServerMessage, InteractionUpdate } from '@tandem/protocol/agent';
import { textMessage } from '../src/bridge/outbox.ts';
import type { Outbox, TextBranch } from '../src/bridge/outbox.ts';
import type { Clock } from '../src/clock.ts';
import type { Log } from '../src/observe/log.ts';

/** An outbox that keeps what it was given, and whose reader comes and goes as a test says. */
export class RecordedOutbox implements Outbox {
  readonly messages: AgentServerMessage[] = [];
  #reader: PromiseWithResolvers<void> | undefined;

  append(message: AgentServerMessage): void {
    this.messages.push(message);
  }
  appendText(branch: TextBranch, text: string): void {
    this.append(textMessage(branch, text));
  }
  ready(): undefined {
    return undefined;
  }
  reader(): Promise<void> | undefined {
    return this.#reader?.promise;
  }
  /** The reader is gone until `attach`. */
  detach(): void {
    this.#reader = Promise.withResolvers();
  }
  attach(): void {
    this.#reader?.resolve();
    this.#reader = undefined;
  }

  /** The messages of one branch of the root message. */
  of<K extends NonNullable<AgentServerMessage['message']['case']>>(
    branch: K,
  ): Extract<AgentServerMessage['message'], { case: K }>['value'][] {
    return this.messages.flatMap(({ message }) => (message.case === branch ? [message.value as never] : []));
  }
  /** The updates, in order. */
  get updates(): InteractionUpdate['message'][] {
    return this.of('interactionUpdate').map(update => update.message);
  }
}

/** A clock that moves only when a test says so. */
export class StandingClock implements Clock {
  #now = 1_000_000;
  readonly #timers = new Set<{ at: number; call: () => void }>();

  now(): number {
    return this.#now;
  }
  after(ms: number, call: () => void): () => void {
    const timer = { at: this.#now + ms, call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [due] = [...this.#timers].filter(timer => timer.at <= until).sort((left, right) => left.at - right.at);
      if (!due) break;
      this.#timers.delete(due);
      this.#now = due.at;
      due.call();
    }
    this.#now = until;
  }
  get pending(): number {
    return this.#timers.size;
  }
}

/** A log that keeps its lines: level and text. */
export function recordedLog(): { log: Log; lines: [keyof Log, string][] } {
  const lines: [keyof Log, string][] = [];
  const line = (level: keyof Log) => (_fields: object, text: string) => void lines.push([level, text]);
  return { log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }, lines };
}
