import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  findCaseCitations,
  findCases,
  findHeadings,
  findProtocolCitations,
  findRequirementCitations,
  listUnanswered,
  readSourceFiles,
  repository,
} from './citations.ts';
import { findCaseFlaws, findCaseRows, findCaseTests, findNameFlaws, laterWork, renderCaseTable } from './case-table.ts';
import { requirement, requirements } from './requirements.ts';
import type { RequirementId } from './requirements.ts';

/** The file that tests the finding of citations is full of examples, and cites nothing. */
const self = 'test/citations.test.ts';
const withoutSelf = ({ path }: { path: string }): boolean => path !== self;

const packages = readdirSync(join(repository, 'packages'));
const testFiles = ['packages', 'test'].flatMap(folder => readSourceFiles(folder, ['.test.ts'])).filter(withoutSelf);
const sourceFiles = [
  ...packages
    .filter(name => existsSync(join(repository, 'packages', name, 'src')))
    .flatMap(name => readSourceFiles(`packages/${name}/src`, ['.ts', '.js', '.md'])),
  ...readSourceFiles('packages/protocol/proto', ['.proto']),
  ...readSourceFiles('test', ['.ts', '.js', '.md']),
].filter(withoutSelf);
const documents = readSourceFiles('docs', ['.md']);

const headings = readSourceFiles('docs/protocol', ['.md']).flatMap(({ text }) => findHeadings(text));
const requirementIds: ReadonlySet<string> = new Set(requirements.map(({ id }) => id));
const requirementCitations = testFiles.flatMap(findRequirementCitations);

describe('the ledger of requirements', () => {
  it('is cited in full by the tests', () => {
    const cited = new Set(requirementCitations.map(citation => citation.cited));
    const uncited = [...requirementIds].filter(id => !cited.has(id));
    expect(uncited, `${uncited.length} of ${requirementIds.size} promises are cited by no test`).toEqual([]);
  });

  it('knows every id that a test cites', () => {
    expect(listUnanswered(requirementCitations, requirementIds)).toEqual([]);
  });

  it('gives each promise an id of its own that opens with its source', () => {
    expect(requirementIds.size).toBe(requirements.length);
    const families = ['product', 'bad', 'done'];
    const strangers = requirements.filter(({ id, source }) => ![source, ...families].includes(id.split('-')[0]!));
    expect(strangers).toEqual([]);
  });

  it('hands out the sentence of a promise and refuses an unknown id', () => {
    expect(requirement('R53-one-end-stream')).toBe(
      'Every stream ends with exactly one EndStream and nothing after it.',
    );
    expect(() => requirement('R99-nothing' as RequirementId)).toThrow('no requirement has the id R99-nothing');
  });
});

describe('docs/protocol', () => {
  it('has one heading for each section and rule, the rules without a hole', () => {
    expect(new Set(headings).size).toBe(headings.length);
    const rules = headings.filter(heading => heading.startsWith('R'));
    expect(rules).toEqual(Array.from({ length: 66 }, (_, index) => `R${index + 1}`));
  });

  it('answers every section and rule that code, tests and documents name', () => {
    const citations = [...sourceFiles, ...documents].flatMap(findProtocolCitations);
    expect(listUnanswered(citations, new Set(headings))).toEqual([]);
  });
});

describe('docs/decisions/cases.md', () => {
  it('answers every case that code and tests name', () => {
    const path = join(repository, 'docs/decisions/cases.md');
    expect(existsSync(path), 'docs/decisions/cases.md is missing').toBe(true);
    const cases = new Set(findCases(readFileSync(path, 'utf8')));
    expect(cases.size).toBeGreaterThan(0);
    expect(listUnanswered(sourceFiles.flatMap(findCaseCitations), cases)).toEqual([]);
  });
});

describe('the table of cases', () => {
  const table = readFileSync(join(repository, 'docs/decisions/cases.md'), 'utf8');
  const rows = findCaseRows(table);
  const tests = testFiles.flatMap(findCaseTests);

  it('has a row of three columns for every case', () => {
    expect(rows.map(({ id }) => id)).toEqual(findCases(table));
  });

  it('is what the names of the tests give: npm run cases', () => {
    expect(renderCaseTable(table, tests, laterWork)).toBe(table);
  });

  it('has for every case a test of its own, or the work it waits for', () => {
    expect(findCaseFlaws(rows, tests, laterWork)).toEqual([]);
  });

  it('is named by tests of one case each, which it has', () => {
    expect(findNameFlaws(testFiles, new Set(rows.map(({ id }) => id)))).toEqual([]);
  });
});

describe('the names of tests of cases', () => {
  const named = (text: string) => findCaseTests({ path: 'a.test.ts', text }).map(({ id, name }) => `${id}: ${name}`);
  const flaws = (text: string) => findNameFlaws([{ path: 'a.test.ts', text }], new Set(['T01', 'F1']));
  const table = [
    '| id | what is right | covered by |',
    '|---|---|---|',
    '| T01 | A \\| b. | – |',
    '| F1 | C. | x |',
    '',
  ];

  it('open with the case and a colon, behind the requirements if there are any', () => {
    expect(named("it('T01: does it', …)")).toEqual(['T01: does it']);
    expect(named("test(\n  '[R16-a, §1-b] F1: does what\\'s right', …)")).toEqual(["F1: does what's right"]);
    expect(named("it.each(ways)('T01: does it over %s', …); it.for`x`(`F1: ${a} does`, …)")).toEqual([
      'T01: does it over %s',
      'F1: ${a} does',
    ]);
    expect(named("it('does it (T01)', …); describe('T01: does it', …); expect('T01: a')")).toEqual([]);
  });

  it('do not count where the test is switched off', () => {
    expect(named("it.skip('T01: does it', …); it.todo('T01: does it'); it.concurrent('F1: does', …)")).toEqual([
      'F1: does',
    ]);
  });

  it('hold one case, and one that the table has', () => {
    expect(flaws("it('T01: does it', …); it('[R1-x] F1: does it', …)")).toEqual([]);
    expect(flaws("it('T01, F1: does it', …)")).toEqual([
      'a.test.ts: one test is named by T01, F1: give each a test of its own',
    ]);
    expect(flaws("it('T01: does it, as F1 does', …)")).toEqual([
      'a.test.ts: the test of T01 names F1 too: give each a test of its own',
    ]);
    expect(flaws("it('T99: does it', …)")).toEqual(['a.test.ts: no row has the case T99']);
  });

  it('make the third column, next to the later work', () => {
    const tests = findCaseTests({ path: 'a.test.ts', text: "it('T01: a | b', …); it('T01: c', …)" });
    const written = renderCaseTable(table.join('\n'), tests, { F1: 'modes' });
    expect(written.split('\n').slice(2)).toEqual([
      '| T01 | A \\| b. | a.test.ts, “a \\| b”; a.test.ts, “c” |',
      '| F1 | C. | later: modes |',
      '',
    ]);
    expect(renderCaseTable(written, tests, { F1: 'modes' })).toBe(written);
    expect(renderCaseTable(written, [], {}).split('\n').slice(2)).toEqual([
      '| T01 | A \\| b. | |',
      '| F1 | C. | |',
      '',
    ]);
    expect(findCaseRows(renderCaseTable(written, [], {})).map(({ coveredBy }) => coveredBy)).toEqual(['', '']);
  });

  it('leave no case with neither or with both', () => {
    const tests = findCaseTests({ path: 'a.test.ts', text: "it('T01: a', …)" });
    const rows = findCaseRows(table.join('\n'));
    expect(findCaseFlaws(rows, tests, { F1: 'modes' })).toEqual([]);
    expect(findCaseFlaws(rows, tests, {})).toEqual(['F1 has neither a test nor later work']);
    expect(findCaseFlaws(rows, tests, { F1: 'modes', T01: 'modes', T02: 'tools' })).toEqual([
      'T01 has a test: take it out of the later work',
      'T02 is later work, and no row',
    ]);
  });
});

describe('finding citations', () => {
  const file = (text: string): { path: string; text: string } => ({ path: 'x.test.ts', text });
  const cited = (text: string): string[] => findRequirementCitations(file(text)).map(citation => citation.cited);

  it('reads one id or several from the brackets that open a test name', () => {
    expect(cited("it('[R16-heartbeat-5s] sends one', …)")).toEqual(['R16-heartbeat-5s']);
    expect(cited('it.each(rows)("[§1.2-any-split, F8-whole-turn] decodes", …)')).toEqual([
      '§1.2-any-split',
      'F8-whole-turn',
    ]);
  });

  it('sees an id of the wrong case, so that the ledger can refuse it', () => {
    expect(cited("it('[r16-Heartbeat] sends one', …)")).toEqual(['r16-Heartbeat']);
  });

  it('counts neither ordinary brackets nor tests that are switched off', () => {
    expect(cited("expect(text).toBe('[redacted]'); split('[a, b]');")).toEqual([]);
    expect(cited("it.skip('[R16-heartbeat-5s] sends one', …); it.todo(\n  '[R1-two] calls');")).toEqual([]);
  });

  it('finds sections and rules, both ends of a range included, and leaves other words alone', () => {
    const found = findProtocolCitations(file('// §10.2., R7–R9 and (R16); ERROR1, xR5, R100'));
    expect(found.map(citation => citation.cited)).toEqual(['§10.2', 'R7', 'R9', 'R16']);
  });

  it('finds cases of one to three digits for F and of two for the other letters', () => {
    const found = findCaseCitations(file('// F1, F100, T09 (K04); S3, P1, F0, AF14'));
    expect(found.map(citation => citation.cited)).toEqual(['F1', 'F100', 'T09', 'K04']);
  });

  it('reads headings and table rows, and nothing that only mentions a number', () => {
    expect(findHeadings('# §1\n## §1 Overview\n### §1.2 Envelopes\ntext R9\n### R9 Headers\n')).toEqual([
      '§1',
      '§1.2',
      'R9',
    ]);
    expect(findCases('| id | right |\n|---|---|\n| F14 | ignored | – |\nF15 |')).toEqual(['F14']);
  });

  it('names what is unanswered once per file', () => {
    const citations = findProtocolCitations(file('// §99 and §99, R16'));
    expect(listUnanswered(citations, new Set(['R16']))).toEqual(['§99 in x.test.ts']);
  });
});
