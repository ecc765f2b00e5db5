import { expect, it } from 'vitest';
import { budgetsOf, checkBudget } from './budget.ts';

const budget = { amount: 1, currency: 'USD', per: 'day' } as const;
const sha256 = '0'.repeat(64);

it.each([
  ['a key by its name', 'ci', 'The key ci has spent 1.50 USD of the 1.00 USD'],
  ['the server where the key has no name for a person', 'run', 'This server has spent 1.50 USD'],
  ['the server where it has no keys', 'local', 'This server has spent 1.50 USD'],
])('[product-budget] a budget that is spent names %s', (_, owner, says) => {
  const keys = [
    { name: 'ci', sha256 },
    { name: 'run', sha256, isUnnamed: true },
  ];
  const budgetOf = budgetsOf({ auth: { keys }, budget });
  expect(() => checkBudget(budgetOf(owner)!, 1.5, 0)).toThrow(says);
  expect(() => checkBudget(budgetOf(owner)!, 0.5, 0)).not.toThrow();
});
