import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { toolsPage } from './docs-table.ts';

const page = new URL('../../../../docs/tools.md', import.meta.url);

it('docs/tools.md says what the tools are (TANDEM_WRITE_DOCS=1 writes it again)', () => {
  if (process.env['TANDEM_WRITE_DOCS']) writeFileSync(page, toolsPage());
  expect(readFileSync(page, 'utf8')).toBe(toolsPage());
});
