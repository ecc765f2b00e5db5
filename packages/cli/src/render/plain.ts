import type { EndEvent, RunEvent, ToolEvent, Usage } from '@tandem/client';
import { diffFigures, diffLines } from './diff-text.ts';
import type { DiffLine } from './diff-text.ts';
import type { MarkdownStream } from './markdown.ts';
import { plainLine, plainText } from './plain-text.ts';
import type { Piece, Render } from './render.ts';
import { outputLines, toolFailure, toolTitle } from './tool-text.ts';

/** How the parts of the output look; each takes text that is safe already. */
export interface Paint {
  readonly faint: (text: string) => string;
  readonly mark: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly good: (text: string) => string;
}

export interface PlainOptions {
  /** The folder of the run; paths inside it are shown from there. */
  readonly folder: string;
  /** Milliseconds, for the time that the run took. */
  readonly now: () => number;
  /** No colours when absent. */
  readonly paint?: Paint;
  /** Whether what the model thinks is shown. */
  readonly showsThinking?: boolean;
  /** Paints the answer as Markdown; absent, it is shown as it was written. */
  readonly markdown?: MarkdownStream;
  /** Whether the lines that an edit changed are shown below it. */
  readonly showsDiffs?: boolean;
  /** Of reads and searches in a row so many get a line, the rest one together; all get one when absent. */
  readonly foldsAfter?: number;
}

const noPaint: Paint = { faint: text => text, mark: text => text, bad: text => text, good: text => text };

/** Calls that only look, so that many of them in a row say little. */
const LOOKS: ReadonlySet<string> = new Set(['read', 'ls', 'glob', 'grep']);

/** The longest notice or failure; servers may send a page. */
const NOTICE_CHARACTERS = 2_000;

/**
 * `--output text`: the answer as it comes, a line for every tool call, and on stderr what is about the run and not of it. For files and
 * pipes as it is; a terminal adds its paint.
 */
export function createPlainRender(options: PlainOptions): Render {
  const {
    folder,
    now,
    paint = noPaint,
    showsThinking = false,
    markdown,
    showsDiffs = false,
    foldsAfter = Infinity,
  } = options;
  const startedAt = now();
  /** What the last piece on stdout was, and whether its line is still open. */
  let last: 'text' | 'thinking' | 'tool' | undefined;
  let isLineOpen = false;
  /** Calls with their titles; those whose line was printed. */
  const titles = new Map<string, string>();
  const announced = new Set<string>();
  let newestCall: string | undefined;

  /** Looks in a row so far; those of them without a line. */
  let row = 0;
  let folded = 0;

  const endRow = (): Piece[] => {
    row = 0;
    if (folded === 0) return [];
    const text = paint.faint(`  … and ${folded} more of the kind`);
    folded = 0;
    return [{ to: 'stdout', text: `${text}\n` }];
  };
  const closeLine = (): Piece[] => {
    const rest = last === 'text' ? (markdown?.end() ?? '') : '';
    if (!isLineOpen) return [];
    isLineOpen = false;
    return [{ to: 'stdout', text: `${rest}\n` }];
  };
  const flow = (kind: 'text' | 'thinking', raw: string): Piece[] => {
    const clean = plainText(raw);
    if (clean === '') return [];
    const before = last === kind ? [] : [...closeLine(), ...endRow()];
    last = kind;
    isLineOpen = !clean.endsWith('\n');
    const text = kind === 'thinking' ? paintLines(clean, paint.faint) : (markdown?.write(clean) ?? clean);
    return text === '' ? before : [...before, { to: 'stdout', text }];
  };
  const line = (text: string): Piece[] => {
    const before = closeLine();
    last = 'tool';
    return [...before, { to: 'stdout', text: `${text}\n` }];
  };
  const aside = (text: string): Piece[] => [...closeLine(), ...endRow(), { to: 'stderr', text: `${text}\n` }];

  const announce = (event: ToolEvent): Piece[] => {
    if (announced.has(event.id)) return [];
    const before = closeLine();
    announced.add(event.id);
    if (LOOKS.has(event.name)) {
      if (++row > foldsAfter) {
        folded++;
        return [];
      }
    } else before.push(...endRow());
    newestCall = event.id;
    return [...before, ...line(`${paint.mark('●')} ${titles.get(event.id) ?? ''}`)];
  };
  const tool = (event: ToolEvent): Piece[] => {
    if (event.status === 'partial') return []; // its arguments are not complete, so what it does cannot be said yet
    if (event.args || !titles.has(event.id)) titles.set(event.id, toolTitle(event, folder));
    const pieces = announce(event);
    if (event.status === 'running') return pieces;
    if (event.status === 'failed') {
      const whose = newestCall === event.id ? '' : `${titles.get(event.id)}: `;
      pieces.push(...line(`  ${paint.bad('✗')} ${whose}${toolFailure(event)}`));
      newestCall = undefined;
    }
    for (const one of outputLines(event)) pieces.push(...line(paint.faint(`    ${one}`)));
    if (!showsDiffs) return pieces;
    const figures = diffFigures(event);
    if (figures)
      pieces.push(...line(paint.faint(`  ${figures}${newestCall === event.id ? '' : ` ${titles.get(event.id)}`}`)));
    for (const one of diffLines(event)) pieces.push(...line(`    ${diffPaint(one, paint)}`));
    return pieces;
  };

  return (event: RunEvent): Piece[] => {
    switch (event.type) {
      case 'text':
        return flow('text', event.text);
      case 'thinking':
        return showsThinking ? flow('thinking', event.text) : [];
      case 'notice':
        return aside(paint.faint(plainLine(event.text, NOTICE_CHARACTERS)));
      case 'tool':
        return tool(event);
      case 'user-message':
        return line(paint.faint(`› ${plainLine(event.text, NOTICE_CHARACTERS)}`));
      case 'retry': {
        const wait = (event.delayMs / 1000).toFixed(1);
        return aside(paint.faint(`${plainLine(event.reason, NOTICE_CHARACTERS)} Trying again in ${wait} s.`));
      }
      case 'end':
        return aside(endLine(event, now() - startedAt, paint));
      default:
        return []; // questions are asked by whoever answers them; the rest is for programs
    }
  };
}

function diffPaint({ kind, text }: DiffLine, paint: Paint): string {
  if (kind === 'added') return paint.good(text);
  return kind === 'removed' ? paint.bad(text) : paint.faint(text);
}

function endLine(end: EndEvent, took: number, paint: Paint): string {
  const figures = [`${(took / 1000).toFixed(1)} s`, tokensOf(end.usage)].filter(Boolean).join(' · ');
  if (end.outcome === 'ended') return paint.faint(`Done in ${figures}`);
  if (end.outcome === 'cancelled') return paint.faint(`Cancelled after ${figures}`);
  const { title = 'Failed', message = '' } = end.error ?? {};
  return `${paint.bad('✗')} ${plainLine(`${title}: ${message}`, NOTICE_CHARACTERS)} ${paint.faint(`(${figures})`)}`;
}

function tokensOf(usage: Usage | undefined): string {
  if (usage?.inputTokens === undefined && usage?.outputTokens === undefined) return '';
  const cached = usage.cacheReadTokens === undefined ? '' : ` (${count(usage.cacheReadTokens)} cached)`;
  return `${count(usage.inputTokens)} tokens in${cached}, ${count(usage.outputTokens)} out`;
}

function count(tokens: number | string | undefined): string {
  return tokens === undefined ? '?' : tokens.toLocaleString('en-US');
}

/** Each line by itself, so that a pager or a copied line keeps its look. */
function paintLines(text: string, paint: (text: string) => string): string {
  return text
    .split('\n')
    .map(one => (one === '' ? '' : paint(one)))
    .join('\n');
}
