import { findCaseCitations } from './citations.ts';
import type { SourceFile } from './citations.ts';

/** A test that is named by a case: the id that opens its name, the rest of the name, and the file it stands in. */
export type CaseTest = { readonly id: string; readonly name: string; readonly path: string };

/** A row of the table of cases: its id, what is right, and what covers it, as Markdown. */
export type CaseRow = { readonly id: string; readonly right: string; readonly coveredBy: string };

/** Work that a case without a test waits for. */
export const laterWork: Readonly<Record<string, string>> = {
  C01: 'summaries',
  C04: 'summaries',
  C06: 'subagents',
  F50: 'tools',
  F61: 'modes',
  F68: 'summaries',
  F71: 'summaries',
};

/** A call of `it` or `test`, also by way of `each` and the like, up to the string that names it. A switched off one is caught, to be left out. */
const namedTest =
  /(?:\b(?:it|test)((?:\.\w+)*)\(|[)`]\()\s*(['"`])(?:\[[^\]\n]*\] )?([A-Z]\d+): ((?:\\.|(?!\2)[^\\\n])*)\2/g;

const idsInOpening =
  /(?:\b(?:it|test)(?:\.\w+)*\(|[)`]\()\s*['"`](?:\[[^\]\n]*\] )?([A-Z]\d+(?:(?:, | and |\/)[A-Z]\d+)+):/g;

/** The tests of a file whose name opens, behind its requirement ids, with a case and a colon; those that are switched off do not count. */
export function findCaseTests({ path, text }: SourceFile): CaseTest[] {
  return [...text.matchAll(namedTest)]
    .filter(([, modifiers = '']) => !/\.(?:skip|todo)\b/.test(modifiers))
    .map(([, , , id, name]) => ({ id: id!, name: name!.replace(/\\(['"`\\])/g, '$1'), path }));
}

/** What is wrong with how tests name cases, one line each: two in one name, or one that no row has. */
export function findNameFlaws(files: readonly SourceFile[], known: ReadonlySet<string>): string[] {
  const several = files.flatMap(({ path, text }) =>
    [...text.matchAll(idsInOpening)].map(
      ([, ids]) => `${path}: one test is named by ${ids}: give each a test of its own`,
    ),
  );
  const tests = files.flatMap(findCaseTests);
  const crossed = tests.flatMap(({ id, name, path }) =>
    findCaseCitations({ path, text: name })
      .filter(({ cited }) => cited !== id)
      .map(({ cited }) => `${path}: the test of ${id} names ${cited} too: give each a test of its own`),
  );
  const strange = tests.filter(({ id }) => !known.has(id)).map(({ id, path }) => `${path}: no row has the case ${id}`);
  return [...several, ...crossed, ...strange];
}

const row = /^\| ([A-Z]\d+) +\| (.*) \| ?([^|]*(?:\\\|[^|]*)*)\|$/;

/** The rows of a table of cases with three columns: id, what is right, covered by. */
export function findCaseRows(markdown: string): CaseRow[] {
  return markdown.split('\n').flatMap(line => {
    const found = row.exec(line);
    return found ? [{ id: found[1]!, right: found[2]!, coveredBy: found[3]!.trim() }] : [];
  });
}

/**
 * The table of cases with its third column as the tests and the later work give it: file and name of each test, or `later:` and
 * the work, or nothing. Everything else stays as it is.
 */
export function renderCaseTable(
  markdown: string,
  tests: readonly CaseTest[],
  later: Readonly<Record<string, string>>,
): string {
  const coveredBy = (id: string): string => {
    const own = tests
      .filter(test => test.id === id)
      .map(({ path, name }) => `${path}, “${name.replaceAll('|', '\\|')}”`);
    if (own.length > 0) return own.join('; ');
    return later[id] === undefined ? '' : `later: ${later[id]}`;
  };
  const lines = markdown.split('\n').map(line => {
    const found = row.exec(line);
    return found ? `| ${found[1]} | ${found[2]} | ${coveredBy(found[1]!)} |`.replace('|  |', '| |') : line;
  });
  return lines.join('\n');
}

/** What is wrong with which case has what, one line each: neither test nor later work, both, or later work of no case. */
export function findCaseFlaws(
  rows: readonly CaseRow[],
  tests: readonly CaseTest[],
  later: Readonly<Record<string, string>>,
): string[] {
  const tested = new Set(tests.map(({ id }) => id));
  const flaws = rows.flatMap(({ id }) => {
    if (tested.has(id) && later[id] !== undefined) return [`${id} has a test: take it out of the later work`];
    return tested.has(id) || later[id] !== undefined ? [] : [`${id} has neither a test nor later work`];
  });
  const ids = new Set(rows.map(({ id }) => id));
  return [
    ...flaws,
    ...Object.keys(later)
      .filter(id => !ids.has(id))
      .map(id => `${id} is later work, and no row`),
  ];
}
