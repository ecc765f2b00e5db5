import type { Clock } from '../clock.ts';
import type { ModelInfo, Usage } from '../model/port.ts';
import type { Log } from '../observe/log.ts';
import type { Scope, UsageBook } from '../store/port.ts';
import { budgetTime, checkBudget } from './budget.ts';
import type { BudgetOf } from './budget.ts';
import { costOfCall, CURRENCY } from './price.ts';

/** The model calls of one run, or those that belong together in another way. */
export interface MeteredRun {
  readonly scope: Scope;
  /** Empty for calls that belong to no conversation. */
  readonly conversationId: string;
  readonly runId: string;
  readonly model: ModelInfo;
  /** Whether the run's own key paid for it (§6). */
  readonly isOwnKey: boolean;
}

/** What one run's model calls are held to and written down by. */
export interface RunMeter {
  /** Asked before each model call. @throws Fault `budget_spent` */
  check(): Promise<void>;
  /** Writes down a call that came to its end, and says what it cost. What cannot be written costs a line in the log, never the turn (S06). */
  record(usage: Usage, answering: ModelInfo): Promise<CallCost | undefined>;
}

/** What a call cost, where that is known. */
export interface CallCost {
  readonly currency: string;
  readonly amount: number;
}

/** Writes down what model calls use and cost, and stops owners whose budget is spent. */
export class Meter {
  readonly #book: UsageBook;
  readonly #budgetOf: BudgetOf;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor(options: { book: UsageBook; budgetOf: BudgetOf; clock: Clock; log: Log }) {
    this.#book = options.book;
    this.#budgetOf = options.budgetOf;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** The meter of one run. A run that pays for itself has no budget here. */
  of(run: MeteredRun): RunMeter {
    return {
      check: async () => {
        if (!run.isOwnKey) await this.#check(run.scope.owner);
      },
      record: (usage, answering) => this.#record({ ...run, model: answering }, usage),
    };
  }

  async #check(owner: string): Promise<void> {
    const budget = this.#budgetOf(owner);
    if (!budget) return;
    const { from, until } = budgetTime(budget, this.#clock.now());
    checkBudget(budget, await this.#book.spent({ owner }, budget.currency, from), until);
  }

  async #record(run: MeteredRun, usage: Usage): Promise<CallCost | undefined> {
    const { scope, conversationId, runId, model, isOwnKey } = run;
    const amount = costOfCall(usage, model.price);
    const cost = amount === undefined ? undefined : { amount, currency: model.price?.currency ?? CURRENCY };
    try {
      await this.#book.record(
        { owner: scope.owner },
        { conversationId, runId, model: model.key, at: this.#clock.now(), usage: { ...usage }, cost, isOwnKey },
      );
    } catch (error) {
      this.#log.error({ error: String(error) }, 'the usage of a model call could not be written to the ledger');
    }
    return cost;
  }
}
