import type { DatabaseSync } from 'node:sqlite';
import type { UsageBook, UsageRow } from '../port.ts';

/** The expression that each way of grouping groups by. */
const GROUPS = {
  day: `strftime('%Y-%m-%d', at / 1000, 'unixepoch')`,
  model: 'model',
  conversation: 'conversation_id',
  turn: 'run_id',
} as const;

/** The sums of what calls reported, null where none did. `total` counts in floating point: `sum` would fail above 64 bits. */
const TOTALS = [
  ['input', 'inputTokens'],
  ['output', 'outputTokens'],
  ['cache_read', 'cacheReadTokens'],
  ['cache_write', 'cacheWriteTokens'],
  ['reasoning', 'reasoningTokens'],
]
  .map(([column, name]) => `iif(count(${column}) > 0, total(${column}), NULL) AS ${name}`)
  .join(', ');

/** Rows of one report: a year of days has fewer, and nobody reads more. */
const REPORT_ROWS = 1_000;

/** What model calls used and cost; beside the port, what removes rows from before a moment. */
export function openUsage(database: DatabaseSync): UsageBook & { sweep(before: number): void } {
  const insert = database.prepare(
    `INSERT INTO usage (owner, conversation_id, run_id, model, at, own_key, input, output, cache_read, cache_write, reasoning, cost, currency)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const spent = database.prepare(
    'SELECT coalesce(sum(cost), 0) AS amount FROM usage WHERE owner = ? AND currency = ? AND own_key = 0 AND at >= ?',
  );
  const remove = database.prepare('DELETE FROM usage WHERE at < ?');

  return {
    async record({ owner }, { conversationId, runId, model, at, isOwnKey, usage, cost }) {
      insert.run(
        owner,
        conversationId,
        runId,
        model,
        at,
        isOwnKey ? 1 : 0,
        usage.inputTokens ?? null,
        usage.outputTokens ?? null,
        usage.cacheReadTokens ?? null,
        usage.cacheWriteTokens ?? null,
        usage.reasoningTokens ?? null,
        cost?.amount ?? null,
        cost?.currency ?? null,
      );
    },
    async spent({ owner }, currency, since) {
      return (spent.get(owner, currency, since) as { amount: number }).amount;
    },
    async report({ owner }, { by, since = 0, until = Number.MAX_SAFE_INTEGER, conversationId }) {
      const where = `owner = :owner AND at >= :since AND at < :until${conversationId === undefined ? '' : ' AND conversation_id = :conversation'}`;
      const values = {
        owner,
        since,
        until,
        ...(conversationId !== undefined && { conversation: conversationId }),
      };
      const rows = database
        .prepare(
          `SELECT ${GROUPS[by]} AS name, count(*) AS calls, count(DISTINCT run_id) AS turns,
                  ${TOTALS},
                  sum(cost IS NULL) AS unpricedCalls, max(at) AS lastAt
           FROM usage WHERE ${where} GROUP BY name ORDER BY ${by === 'day' ? 'name' : 'lastAt'} DESC LIMIT ${REPORT_ROWS}`,
        )
        .all(values) as unknown as (Omit<UsageRow, 'cost'> & Record<string, unknown>)[];
      const costs = database
        .prepare(
          `SELECT ${GROUPS[by]} AS name, currency, sum(cost) AS amount FROM usage
           WHERE ${where} AND currency IS NOT NULL GROUP BY name, currency`,
        )
        .all(values) as { name: string; currency: string; amount: number }[];
      return rows.map(row => ({
        ...(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as unknown as UsageRow),
        cost: Object.fromEntries(
          costs.filter(({ name }) => name === row.name).map(({ currency, amount }) => [currency, amount]),
        ),
      }));
    },
    sweep(before) {
      remove.run(before);
    },
  };
}
