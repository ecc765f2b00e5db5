import { fault } from '@tandem/protocol';
import type { BudgetConfig, Config } from '../config/config.ts';

/** A budget, and whose it is as a person calls it, at the beginning of a sentence: `The key ci`. */
export interface Budget extends BudgetConfig {
  readonly holder: string;
}

/** Gives the budget of an owner; undefined when nothing bounds what he spends. */
export type BudgetOf = (owner: string) => Budget | undefined;

/** The budgets of a config: a key's own, else the one for every key. */
export function budgetsOf({ auth, budget }: Pick<Config, 'auth' | 'budget'>): BudgetOf {
  const keys = new Map(auth.keys.map(key => [key.name, key]));
  return owner => {
    const key = keys.get(owner);
    const found = key?.budget ?? budget;
    return found && { ...found, holder: key && !key.isUnnamed ? `The key ${owner}` : 'This server' };
  };
}

/** The time from which and until which a budget holds at a moment, in milliseconds since the epoch; days and months are those of UTC. */
export function budgetTime({ per }: BudgetConfig, now: number): { from: number; until: number } {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return per === 'day'
    ? { from: Date.UTC(year, month, day), until: Date.UTC(year, month, day + 1) }
    : { from: Date.UTC(year, month, 1), until: Date.UTC(year, month + 1, 1) };
}

/** @throws Fault `budget_spent` once as much was spent as the budget gives. */
export function checkBudget(budget: Budget, spent: number, until: number): void {
  if (spent < budget.amount) return;
  const { amount, currency, per, holder } = budget;
  throw fault(
    'budget_spent',
    `${holder} has spent ${moneyText(spent)} ${currency} of the ${moneyText(amount)} ${currency} that it has for a ${per}. ` +
      `It has its budget again at ${new Date(until).toISOString().replace('.000', '')}; whoever runs the server can raise the budget in its config.`,
  );
}

/** An amount with the cents, and with more digits where cents say nothing. */
function moneyText(amount: number): string {
  return amount >= 0.01 || amount === 0 ? amount.toFixed(2) : amount.toPrecision(2);
}
