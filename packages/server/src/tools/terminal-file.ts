/** How a terminal file ends once its command has (R30): `key: value` lines, fenced or not. */
export interface TerminalFooter {
  exitCode: number;
  elapsedMs: number;
}

const ENTRY = /^[a-z_]+: ?(.*)$/;

/**
 * The footer, when the text ends with one: lines of the form `key: value`, fences and empty lines, among them exit_code and
 * elapsed_ms. Output that merely speaks of an exit code is none.
 */
export function readFooter(text: string): TerminalFooter | undefined {
  const found = new Map<string, string>();
  const lines = text.split('\n');
  for (let at = lines.length - 1; at >= Math.max(0, lines.length - 20); at -= 1) {
    const line = lines[at]!.trim();
    if (line === '' || /^-{3,}$/.test(line)) continue;
    const entry = ENTRY.exec(line);
    if (!entry) break;
    const key = line.slice(0, line.indexOf(':'));
    if (!found.has(key)) found.set(key, entry[1]!.trim());
  }
  const exitCode = numberOf(found.get('exit_code'));
  const elapsedMs = numberOf(found.get('elapsed_ms'));
  if (exitCode === undefined || elapsedMs === undefined) return undefined;
  return { exitCode: exitCode | 0, elapsedMs: Math.max(0, elapsedMs) };
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;
}

/** A terminal file's text without its header and footer: what the command printed. */
export function terminalBody(text: string): string {
  const withoutHeader = text.replace(/^---\n(?:[a-z_]+:[^\n]*\n)*---\n/, '');
  return readFooter(text) ? withoutHeader.replace(/\n?(?:-{3,}\n)?(?:(?:[a-z_]+: ?[^\n]*|-{3,}|)(?:\n|$))+$/, '') : withoutHeader;
}
