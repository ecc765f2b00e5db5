import type { Usage } from '../model/port.ts';
import type { CallCost } from '../usage/meter.ts';
import { addMoney } from '../usage/price.ts';
import type { Money } from '../usage/price.ts';
import { addUsage } from './usage.ts';

/** What a run did so far, for its line in the log and for the retry rule (R54). */
export class RunAccount {
  modelKey = '';
  usage: Usage = {};
  /** By currency; calls whose price is not known are not in it. */
  cost: Money = {};
  modelCalls = 0;
  toolCalls = 0;
  retries = 0;
  /** When the client was first shown output, or undefined. */
  firstOutputAt: number | undefined;
  /** Whether the client was shown output, or a tool may have done something: a whole replay is no longer harmless. */
  isShown = false;

  addUsage(usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
  }

  addCost(cost: CallCost | undefined): void {
    if (cost) this.cost = addMoney(this.cost, cost.currency, cost.amount);
  }

  outputShown(now: number): void {
    this.isShown = true;
    this.firstOutputAt ??= now;
  }

  toolsStarted(calls: number): void {
    this.isShown = true;
    this.toolCalls += calls;
  }
}
