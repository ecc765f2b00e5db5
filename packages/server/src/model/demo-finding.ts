/** A call that the demo model made in this turn, and what came back. */
export interface DemoFinding {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

/** The names at the top of the folder; undefined when it could not be listed. Folders end with a slash. */
export function listingOf(findings: readonly DemoFinding[]): Set<string> | undefined {
  const found = findings.find(finding => finding.name === 'Ls' && !finding.isError);
  if (!found) return undefined;
  const entries = found.text.split('\n').slice(1);
  return new Set(entries.filter(line => /^ {2}\S/.test(line)).map(line => line.trim().replace(/\/ \(.*\)$/, '/')));
}
