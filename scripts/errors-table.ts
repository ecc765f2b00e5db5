// Prints the table of docs/errors.md from the fault table: node --conditions=tandem-source scripts/errors-table.ts
import { faults } from '@tandem/protocol';

/** One row a fault: what a client sees, and when it happens. */
export function errorsTable(): string {
  const rows = Object.entries(faults).map(
    ([name, { code, retryable, title, when }]) =>
      `| \`${name}\` | \`${code}\` | ${retryable ? 'yes' : 'no'} | ${title} | ${when} |`,
  );
  return ['| name | code | retryable | title | when |', '|---|---|---|---|---|', ...rows].join('\n');
}

if (import.meta.main) process.stdout.write(`${errorsTable()}\n`);
