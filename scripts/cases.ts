// Writes the third column of docs/decisions/cases.md from the names of the tests:
//
//   npm run cases                 writes it, and names the cases that have neither a test nor later work
//   npm run cases -- --check      fails when it is not what the tests give
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  findCaseFlaws,
  findCaseRows,
  findCaseTests,
  findNameFlaws,
  laterWork,
  renderCaseTable,
} from '../test/case-table.ts';
import { readSourceFiles, repository } from '../test/citations.ts';

const path = 'docs/decisions/cases.md';
const file = join(repository, path);

const written = readFileSync(file, 'utf8');
// the file that tests the finding of names is full of examples, and names nothing
const testFiles = ['packages', 'test']
  .flatMap(folder => readSourceFiles(folder, ['.test.ts']))
  .filter(testFile => testFile.path !== 'test/citations.test.ts');
const tests = testFiles.flatMap(findCaseTests);
const rows = findCaseRows(written);
const table = renderCaseTable(written, tests, laterWork);

const flaws = [
  ...findNameFlaws(testFiles, new Set(rows.map(({ id }) => id))),
  ...findCaseFlaws(rows, tests, laterWork),
];
if (process.argv.includes('--check')) {
  if (table !== written) flaws.unshift(`${path} is not what the tests give: run \`npm run cases\``);
} else if (table !== written) {
  writeFileSync(file, table);
}

for (const flaw of flaws) console.error(flaw);
if (flaws.length > 0) process.exitCode = 1;
