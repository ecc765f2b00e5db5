/** How a terminal file ends once its command has (R30). */
export interface TerminalFooter {
  exitCode: number;
  elapsedMs: number;
}

export interface TerminalText {
  /** What the command printed: the text without header and footer. */
  body: string;
  /** Absent while the command runs. */
  footer: TerminalFooter | undefined;
}

/** Lines of a footer that are looked at: clients write two, others may write a few more. */
const FOOTER_LINES = 20;
const FENCE = /^-{3,}$/;
const ENTRY = /^([a-z_]+): ?(.*)$/;
const HEADER = /^---\n(?:[a-z_]+:[^\n]*\n)*---\n/;

/**
 * Takes a terminal file apart (R30). The footer is what stands at its end in lines of the form `key: value`, fences and empty
 * lines, with exit_code and elapsed_ms among them; output that merely speaks of an exit code is none.
 */
export function readTerminal(text: string): TerminalText {
  const lines = text.replace(HEADER, '').split('\n');
  const found = new Map<string, number>();
  let at = lines.length;
  while (at > Math.max(0, lines.length - FOOTER_LINES) && !(found.has('exit_code') && found.has('elapsed_ms'))) {
    const line = lines[at - 1]!.trim();
    const [, key, value] = ENTRY.exec(line) ?? [];
    if (key === undefined && line !== '' && !FENCE.test(line)) break;
    if (key !== undefined && /^-?\d+$/.test(value!) && !found.has(key)) found.set(key, Number(value));
    at -= 1;
  }
  const exitCode = found.get('exit_code');
  const elapsedMs = found.get('elapsed_ms');
  if (exitCode === undefined || elapsedMs === undefined) return { body: lines.join('\n'), footer: undefined };
  return {
    body: lines.slice(0, fenceAbove(lines, at)).join('\n'),
    footer: { exitCode: exitCode | 0, elapsedMs: Math.max(0, elapsedMs) },
  };
}

/** Where the footer begins: at its fence, if only entries stand between that and its first known line. */
function fenceAbove(lines: readonly string[], first: number): number {
  for (let at = first - 1; at >= Math.max(0, first - FOOTER_LINES); at -= 1) {
    if (FENCE.test(lines[at]!.trim())) return at;
    if (!ENTRY.test(lines[at]!)) break;
  }
  return first;
}
