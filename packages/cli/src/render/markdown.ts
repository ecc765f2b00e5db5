/** How the parts of a Markdown text look; each takes text that is safe already. */
export interface MarkdownPaint {
  readonly strong: (text: string) => string;
  readonly emphasis: (text: string) => string;
  readonly code: (text: string) => string;
  readonly heading: (text: string) => string;
  readonly faint: (text: string) => string;
}

/** A Markdown text as it streams: each piece comes back painted at once, all but the few characters whose meaning the next one decides. */
export interface MarkdownStream {
  write(piece: string): string;
  /** The rest, when the text is over; the next `write` begins a new text. */
  end(): string;
}

/** What can stand before the text of a line, once it is complete. */
const BLOCK = /^([ \t]*)(?:(#{1,6})[ \t]+|(>)[ \t]?|([-*+])[ \t]+|(`{3,}|~{3,}))/;
/** The beginning of a line that may still become one of those, or a rule. */
const UNDECIDED = /^[ \t]*(?:#{0,6}|>|[-*+_]|`{0,3}|~{0,3}|(?:[-*_][ \t]*)+)$/;
const RULE = /^[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const MARK = /[*_`\\]/;

/**
 * Headings, lists, quotes, rules, fences, and inside a line strong, emphasis and code. Everything else stays as it was written; nothing is
 * wrapped or taken back, so it works on a terminal of any width.
 */
export function createMarkdownStream(paint: MarkdownPaint): MarkdownStream {
  let held = '';
  let isLineStart = true;
  let fence: string | undefined;
  let isHeading = false;
  let isStrong = false;
  let isEmphasis = false;
  let isCode = false;
  let before = ' ';

  const painted = (text: string): string => {
    if (text === '') return '';
    before = text.at(-1) ?? before;
    let shown = isCode ? paint.code(text) : text;
    if (isEmphasis && !isCode) shown = paint.emphasis(shown);
    if (isStrong) shown = paint.strong(shown);
    return isHeading ? paint.heading(shown) : shown;
  };
  const endLine = (): string => {
    isLineStart = true;
    isHeading = isStrong = isEmphasis = isCode = false;
    before = ' ';
    return '\n';
  };

  /** The head of a line, when it is decided: how much of the line it took and what it reads as. */
  const head = (line: string, isWhole: boolean): { taken: number; shown: string } | undefined => {
    if (fence !== undefined) {
      if (!isWhole) return undefined; // a line of code may be the closing fence
      if (line.trim().startsWith(fence) && /^[`~]+$/.test(line.trim())) {
        fence = undefined;
        return { taken: line.length, shown: paint.faint(line) };
      }
      return { taken: line.length, shown: line === '' ? '' : paint.code(line) };
    }
    if (isWhole && RULE.test(line)) return { taken: line.length, shown: paint.faint(line) };
    if (!isWhole && UNDECIDED.test(line)) return undefined;
    const [all = '', indent = '', hashes, quote, bullet, ticks] = BLOCK.exec(line) ?? [];
    if (ticks !== undefined) {
      if (!isWhole) return undefined;
      fence = ticks;
      return { taken: line.length, shown: paint.faint(line) };
    }
    if (hashes !== undefined) isHeading = true;
    if (quote !== undefined) return { taken: all.length, shown: `${indent}${paint.faint('│')} ` };
    if (bullet !== undefined) return { taken: all.length, shown: `${indent}• ` };
    return { taken: all.length, shown: '' };
  };

  /** The text of a line up to what is not decided yet. */
  const inline = (text: string, isWhole: boolean): { taken: number; shown: string } => {
    let shown = '';
    let at = 0;
    while (at < text.length) {
      const next = text.slice(at).search(MARK);
      if (next !== 0) {
        const plain = next === -1 ? text.slice(at) : text.slice(at, at + next);
        shown += painted(plain);
        at += plain.length;
        continue;
      }
      const mark = text[at] ?? '';
      const run = new RegExp(`^\\${mark}+`).exec(text.slice(at))?.[0].length ?? 1;
      const after = text[at + run];
      if (after === undefined && !isWhole) break; // more of the same, or what it stands before, may come
      if (mark === '\\') {
        if (isCode || after === undefined || run > 1) shown += painted('\\'.repeat(run));
        else shown += painted(/[!-/:-@[-`{-~]/.test(after) ? after : `\\${after}`);
        at += isCode || after === undefined || run > 1 ? run : 2;
        continue;
      }
      at += run;
      if (mark === '`') {
        if (run === 1) isCode = !isCode;
        else shown += painted('`'.repeat(run));
        continue;
      }
      const opens = after !== undefined && !/\s/.test(after) && (mark === '*' || !/\w/.test(before));
      const closes = !/\s/.test(before) && (mark === '*' || after === undefined || !/\w/.test(after));
      if (isCode || run > 3 || !turn(run, opens, closes)) shown += painted(mark.repeat(run));
    }
    return { taken: at, shown };
  };
  /** Begins or ends strong and emphasis; false when the marks are no such thing here. */
  const turn = (run: number, opens: boolean, closes: boolean): boolean => {
    const [strong, emphasis] = [run >= 2, run !== 2];
    const allowed = (isOn: boolean) => (isOn ? closes : opens);
    if ((strong && !allowed(isStrong)) || (emphasis && !allowed(isEmphasis))) return false;
    if (strong) isStrong = !isStrong;
    if (emphasis) isEmphasis = !isEmphasis;
    return true;
  };

  const take = (isOver: boolean): string => {
    let shown = '';
    while (held !== '') {
      const end = held.indexOf('\n');
      const line = end === -1 ? held : held.slice(0, end);
      const isWhole = end !== -1 || isOver;
      let at = 0;
      if (isLineStart) {
        const found = head(line, isWhole);
        if (!found) break;
        shown += found.shown;
        at = found.taken;
        isLineStart = false;
      }
      const rest = inline(line.slice(at), isWhole);
      shown += rest.shown;
      held = held.slice(at + rest.taken);
      if (end === -1) break;
      held = held.slice(1);
      shown += endLine();
    }
    return shown;
  };

  return {
    write(piece) {
      held += piece;
      return take(false);
    },
    end() {
      const shown = take(true);
      held = '';
      fence = undefined;
      endLine();
      return shown;
    },
  };
}
