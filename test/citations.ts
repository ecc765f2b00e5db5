import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const repository = fileURLToPath(new URL('..', import.meta.url));

/** A file as it is read for citations: its path inside the repository, with slashes, and its text. */
export type SourceFile = { readonly path: string; readonly text: string };

/** Something cited, and the file that does it. */
export type Citation = { readonly cited: string; readonly path: string };

/** Folders that hold nothing written by hand. */
const skippedFolders = new Set(['node_modules', 'dist', 'gen', 'coverage', '.git']);

/** Every file below a folder of the repository whose name ends in one of the endings; none when the folder is missing. */
export function readSourceFiles(folder: string, endings: readonly string[]): SourceFile[] {
  const found: SourceFile[] = [];
  const visit = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const child = join(path, entry.name);
      if (entry.isDirectory()) {
        if (!skippedFolders.has(entry.name)) visit(child);
      } else if (endings.some(ending => entry.name.endsWith(ending))) {
        found.push({ path: relative(repository, child).split(sep).join('/'), text: readFileSync(child, 'utf8') });
      }
    }
  };
  visit(join(repository, folder));
  return found;
}

/** The name of a test that is switched off proves nothing, so its citations do not count. */
const switchedOff = /\.(?:skip|todo)\(\s*$/;

/** What the ids of the ledger open with, in any case of letters, so that a slip of the shift key is still noticed. */
const idOpening = /^(?:§\d[\d.]*|[a-z]\d+|product|bad|done)-/i;

/**
 * The requirement ids that a test file cites: those in the brackets that open a string, as in `it('[R16-heartbeat-5s, F8-x] …')`.
 * Brackets whose first word does not look like an id are ordinary text.
 */
export function findRequirementCitations({ path, text }: SourceFile): Citation[] {
  const citations: Citation[] = [];
  for (const match of text.matchAll(/['"`]\[([^\]\n'"`]+)\]/g)) {
    const ids = match[1]!.split(',').map(id => id.trim());
    if (!idOpening.test(ids[0]!) || switchedOff.test(text.slice(0, match.index))) continue;
    for (const cited of ids) citations.push({ cited, path });
  }
  return citations;
}

/** The sections (`§10.2`) and rules (`R16`) that a text names. Where a range is named, both of its ends are. */
export function findProtocolCitations({ path, text }: SourceFile): Citation[] {
  return [...text.matchAll(/§\d+(?:\.\d+)*|\bR\d{1,2}\b/g)].map(([cited]) => ({ cited, path }));
}

/** The cases that a text names: `F` with one to three digits, or one of the other letters with two. */
export function findCaseCitations({ path, text }: SourceFile): Citation[] {
  return [...text.matchAll(/\b(?:F[1-9]\d{0,2}|[TSXKCMP]\d{2})\b/g)].map(([cited]) => ({ cited, path }));
}

/** The numbers that have a heading in a Markdown text, such as `## §10.2 Main result branches` or `### R16 Server heartbeats`. */
export function findHeadings(markdown: string): string[] {
  return [...markdown.matchAll(/^#{2,4} (§\d+(?:\.\d+)*|R\d+) \S/gm)].map(match => match[1]!);
}

/** The ids of the rows of a Markdown table whose first column holds case ids. */
export function findCases(markdown: string): string[] {
  return [...markdown.matchAll(/^\| ([A-Z]\d+) +\|/gm)].map(match => match[1]!);
}

/** Citations that nothing answers, sorted, one line each: what is cited, then `in` and the path. */
export function listUnanswered(citations: readonly Citation[], known: ReadonlySet<string>): string[] {
  const lines = citations.filter(({ cited }) => !known.has(cited)).map(({ cited, path }) => `${cited} in ${path}`);
  return [...new Set(lines)].sort();
}
