import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  findCaseCitations,
  findCaseFlaw,
  findCaseRows,
  findCases,
  findHeadings,
  findProtocolCitations,
  findRequirementCitations,
  listUnanswered,
  readSourceFiles,
  repository,
} from './citations.ts';
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
  const readText = (path: string): string | undefined => {
    const file = join(repository, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };

  it('names for every case a test that is there, or the work it waits for', () => {
    const rows = findCaseRows(table);
    expect(rows.map(({ id }) => id)).toEqual(findCases(table));
    expect(rows.flatMap(row => findCaseFlaw(row, readText) ?? [])).toEqual([]);
  });

  it('is not believed when it names a file or a test that is not there, or nothing', () => {
    const texts: Record<string, string> = { 'a.test.ts': "it('[R1-x] does what is right', …)" };
    const flaw = (coveredBy: string) => findCaseFlaw({ id: 'T01', coveredBy }, path => texts[path]);
    expect(flaw('a.test.ts, “does what is right”')).toBeUndefined();
    expect(flaw('`a.test.ts`: does what is right')).toBeUndefined();
    expect(flaw('later: summaries')).toBeUndefined();
    expect(flaw('a.test.ts, “does what is wrong”')).toBe('T01: no test of a.test.ts is named “does what is wrong”');
    expect(flaw('`a.test.ts`: does nothing')).toBe('T01: no test of a.test.ts is named “does nothing”');
    expect(flaw('b.test.ts, “does what is right”')).toBe('T01 names b.test.ts, which is not there');
    expect(flaw('–')).toBe('T01 names no test');
    expect(flaw('later: some day')).toBe('T01 names no test');
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
