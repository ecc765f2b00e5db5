import { dollarsText } from './cost.ts';
import { plainLine } from './plain-text.ts';

/** The answer of `GET /v1/usage`. */
export interface UsageReport {
  readonly by: 'day' | 'model' | 'conversation' | 'turn';
  readonly rows: readonly {
    readonly name: string;
    readonly calls: number;
    readonly turns: number;
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly cacheReadTokens?: number;
    readonly cacheWriteTokens?: number;
    readonly cost: Readonly<Record<string, number>>;
    readonly unpricedCalls: number;
  }[];
}

type Row = UsageReport['rows'][number];

/** The longest name of a model or a conversation that a line shows. */
const NAME_CHARACTERS = 60;

const COLUMNS = ['turns', 'calls', 'in', 'cached', 'out', 'cost'] as const;

/** A report as lines: one a row, a total below when there are several, and a word on calls whose price is not known. */
export function usageTable({ by, rows }: UsageReport): string {
  if (rows.length === 0) return '';
  const total = sumOf(rows);
  const table = [
    [by, ...COLUMNS],
    ...rows.map(row => [plainLine(row.name, NAME_CHARACTERS) || '(none)', ...figuresOf(row)]),
    ...(rows.length > 1 ? [['total', ...figuresOf(total)]] : []),
  ];
  const widths = table[0]!.map((_, column) => Math.max(...table.map(line => line[column]!.length)));
  const lines = table.map(line =>
    line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  '),
  );
  const unpriced = total.unpricedCalls;
  if (unpriced > 0) {
    lines.push(
      `The cost of ${unpriced === 1 ? '1 call' : `${unpriced} calls`} is not known, for want of a price of the model (models[].price in the config) or of tokens.`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** Cached tokens stand beside the other input, as the server counts them (R58). */
function figuresOf(row: Row): string[] {
  const cached = (row.cacheReadTokens ?? 0) + (row.cacheWriteTokens ?? 0);
  const counts = [row.turns, row.calls, row.inputTokens ?? 0, cached, row.outputTokens ?? 0];
  return [...counts.map(count => count.toLocaleString('en-US')), costText(row)];
}

function costText({ cost, calls, unpricedCalls }: Row): string {
  const amounts = Object.entries(cost).map(([currency, amount]) =>
    currency === 'USD' ? dollarsText(amount) : `${amount.toFixed(amount < 0.01 ? 4 : 2)} ${currency}`,
  );
  if (amounts.length === 0) return calls === unpricedCalls ? 'unknown' : dollarsText(0);
  return unpricedCalls > 0 ? `${amounts.join(' + ')} + unknown` : amounts.join(' + ');
}

function sumOf(rows: readonly Row[]): Row {
  const sum = (of: (row: Row) => number | undefined) => rows.reduce((total, row) => total + (of(row) ?? 0), 0);
  const cost: Record<string, number> = {};
  for (const row of rows) {
    for (const [currency, amount] of Object.entries(row.cost)) cost[currency] = (cost[currency] ?? 0) + amount;
  }
  return {
    name: 'total',
    calls: sum(row => row.calls),
    turns: sum(row => row.turns),
    inputTokens: sum(row => row.inputTokens),
    outputTokens: sum(row => row.outputTokens),
    cacheReadTokens: sum(row => row.cacheReadTokens),
    cacheWriteTokens: sum(row => row.cacheWriteTokens),
    unpricedCalls: sum(row => row.unpricedCalls),
    cost,
  };
}
