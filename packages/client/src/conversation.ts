import type { ConversationStateStructure } from '@tandem/protocol/agent';
import type { AnswerQuery, QueryAnswer } from './answer-query.ts';
import type { InjectionOutcome } from './injection.ts';
import type { Run } from './run.ts';
import type { RunOptions } from './run-request.ts';

/** What is the same for all turns of a conversation. */
export interface ConversationOptions {
  /** The last checkpoint, when the conversation goes on from an earlier process. */
  state?: ConversationStateStructure;
  /** Keeps a checkpoint; called with each one, in their order. What it throws is told by `saved`. */
  save?: (state: ConversationStateStructure) => Promise<void>;
  /**
   * `true` leaves each question open until `answer` is called with the id of its event; else the client's own `answerQuery` decides, or
   * refuses.
   */
  answersByHand?: boolean;
}

/** What a turn may choose; the conversation brings the rest. */
export type TurnOptions = Omit<RunOptions, 'prompt' | 'conversationId' | 'state'>;

/** Begins a run; the client's part of a conversation. */
export type BeginRun = (
  options: RunOptions,
  more: { answerQuery?: AnswerQuery; onCheckpoint: (state: ConversationStateStructure) => void },
) => Run;

/**
 * A conversation of many turns, one at a time. It carries the checkpoint from turn to turn, however a turn ends.
 */
export class Conversation {
  readonly id: string;
  private readonly begin: BeginRun;
  private readonly options: ConversationOptions;
  private readonly open = new Map<number, (answer: QueryAnswer | undefined) => void>();
  private current: Run | undefined;
  private last: ConversationStateStructure | undefined;
  private saving: Promise<void> = Promise.resolve();

  constructor(id: string, begin: BeginRun, options: ConversationOptions) {
    this.id = id;
    this.begin = begin;
    this.options = options;
    this.last = options.state;
  }

  /** The last checkpoint. */
  get state(): ConversationStateStructure | undefined {
    return this.last;
  }

  /** The turn under way. */
  get run(): Run | undefined {
    return this.current;
  }

  /** Begins the next turn. Throws while one is under way: that one can be injected into, cancelled, or waited for by its `done`. */
  send(prompt: string, options: TurnOptions = {}): Run {
    if (this.current !== undefined) throw new Error('a turn of this conversation is still under way');
    const { state } = this;
    const run = this.begin(
      { ...options, prompt, conversationId: this.id, ...(state === undefined ? {} : { state }) },
      {
        onCheckpoint: next => this.keep(next),
        ...(this.options.answersByHand === true ? { answerQuery: this.answerByHand } : {}),
      },
    );
    this.current = run;
    void run.done.then(() => {
      if (this.current === run) this.current = undefined;
    });
    return run;
  }

  /** Gives the turn under way more to consider. Without one nobody hears it. */
  inject(text: string): Promise<InjectionOutcome> {
    return this.current?.inject(text) ?? Promise.resolve({ outcome: 'unanswered' });
  }

  /** Cancels the turn under way and waits for its end. */
  async cancel(reason?: string): Promise<void> {
    const run = this.current;
    run?.cancel(reason);
    await run?.done;
  }

  /** Answers an open question; undefined refuses it. False when no question of this id is open (any more). */
  answer(id: number, answer: QueryAnswer | undefined): boolean {
    const settle = this.open.get(id);
    settle?.(answer);
    return settle !== undefined;
  }

  /** Resolves when every checkpoint so far is kept; rejects with what the last `save` threw. */
  async saved(): Promise<void> {
    await this.saving;
  }

  private keep(state: ConversationStateStructure): void {
    this.last = state;
    const { save } = this.options;
    if (save === undefined) return;
    // One after the other, and only the last failure counts: a later checkpoint holds everything of an earlier one.
    this.saving = this.saving.catch(() => undefined).then(() => (this.last === state ? save(state) : undefined));
    // `saved` tells it to whoever asks; nobody asking is no reason to end the process.
    this.saving.catch(() => undefined);
  }

  private readonly answerByHand: AnswerQuery = (_query, { id, signal }) =>
    new Promise(resolve => {
      const settle = (answer: QueryAnswer | undefined) => {
        signal.removeEventListener('abort', withdraw);
        if (this.open.get(id) === settle) this.open.delete(id);
        resolve(answer);
      };
      const withdraw = () => settle(undefined);
      signal.addEventListener('abort', withdraw, { once: true });
      this.open.set(id, settle);
    });
}
