import type { EndEvent, RunEvent, Usage } from '@tandem/client';
import { dollarsText, inputOf } from './cost.ts';
import type { CostOf } from './cost.ts';
import type { MarkdownStream } from './markdown.ts';
import { plainLine, plainText } from './plain-text.ts';
import type { Piece, Render } from './render.ts';
import { createToolCards } from './tool-cards.ts';

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
  /** Whether the output of a command is shown while it runs, and not only once it ended. */
  readonly showsLive?: boolean;
  /** Of reads and searches in a row so many get a line, the rest one together; all get one when absent. */
  readonly foldsAfter?: number;
  /** What a turn costs; absent, nothing is said of it. */
  readonly costOf?: CostOf | undefined;
}

const noPaint: Paint = { faint: text => text, mark: text => text, bad: text => text, good: text => text };

/** The longest name of a model. */
const NAME_CHARACTERS = 80;

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
    showsLive = false,
    foldsAfter = Infinity,
    costOf = () => undefined,
  } = options;
  const startedAt = now();
  const cards = createToolCards({ folder, paint, showsDiffs, showsLive, foldsAfter });
  /** What the last piece on stdout was, and whether its line is still open. */
  let last: 'text' | 'thinking' | 'tool' | undefined;
  let isLineOpen = false;
  /** Other agents have worked for this run: what they cost is not in its usage. */
  let hasChildren = false;
  let hasRetried = false;
  /** There is something that a later run could go on with. */
  let isKept = false;
  /** The name of the model that the server chose behind a route, or in the place of another. */
  let standIn = '';
  const piece = (text: string): Piece => ({ to: 'stdout', text: `${text}\n` });
  const closeLine = (): Piece[] => {
    const rest = last === 'text' ? (markdown?.end() ?? '') : '';
    if (!isLineOpen) return [];
    isLineOpen = false;
    return [piece(rest)];
  };
  const flow = (kind: 'text' | 'thinking', raw: string): Piece[] => {
    const clean = plainText(raw);
    if (clean === '') return [];
    const before = last === kind ? [] : [...closeLine(), ...cards.leave().map(piece)];
    last = kind;
    isLineOpen = !clean.endsWith('\n');
    const text = kind === 'thinking' ? paintLines(clean, paint.faint) : (markdown?.write(clean) ?? clean);
    return text === '' ? before : [...before, { to: 'stdout', text }];
  };
  const costText = (dollars: number | undefined): string =>
    dollars === undefined ? '' : `${hasChildren ? 'at least ' : ''}${dollarsText(dollars)}`;
  const lines = (texts: readonly string[]): Piece[] => {
    if (texts.length === 0) return [];
    const before = closeLine();
    last = 'tool';
    return [...before, ...texts.map(piece)];
  };
  const aside = (text: string): Piece[] => [
    ...closeLine(),
    ...cards.leave().map(piece),
    { to: 'stderr', text: `${text}\n` },
  ];

  return (event: RunEvent): Piece[] => {
    switch (event.type) {
      case 'text':
        return flow('text', event.text);
      case 'thinking':
        return showsThinking ? flow('thinking', event.text) : [];
      case 'notice':
        return aside(paint.faint(plainLine(event.text, NOTICE_CHARACTERS)));
      case 'tool':
        return lines(cards.tool(event));
      case 'child':
        hasChildren = true;
        return [];
      case 'tool-output':
        return lines(cards.output(event));
      case 'user-message':
        return lines([...cards.leave(), paint.faint(`› ${plainLine(event.text, NOTICE_CHARACTERS)}`)]);
      case 'retry': {
        const wait = (event.delayMs / 1000).toFixed(1);
        const hint = hasRetried ? '' : ` Ctrl-C stops${isKept ? ', and --continue goes on later' : ''}.`;
        hasRetried = true;
        standIn = '';
        return aside(
          paint.faint(`${asSentence(plainLine(event.reason, NOTICE_CHARACTERS))} Trying again in ${wait} s.${hint}`),
        );
      }
      case 'model':
        standIn = plainLine(event.name, NAME_CHARACTERS);
        return [];
      case 'checkpoint':
        isKept = true;
        return [];
      case 'end':
        return aside(endLine(event, { took: now() - startedAt, cost: costText(costOf(event.usage)), standIn, paint }));
      default:
        return []; // questions are asked by whoever answers them; the rest is for programs
    }
  };
}

interface Ending {
  readonly took: number;
  readonly cost: string;
  readonly standIn: string;
  readonly paint: Paint;
}

function endLine(end: EndEvent, { took, cost, standIn, paint }: Ending): string {
  const by = standIn !== '' && end.outcome !== 'failed' && `answered by ${standIn}`;
  const figures = [`${(took / 1000).toFixed(1)} s`, tokensOf(end.usage), cost, by].filter(Boolean).join(' · ');
  if (end.outcome === 'ended') return paint.faint(`Done in ${figures}`);
  if (end.outcome === 'cancelled') return paint.faint(`Cancelled after ${figures}`);
  const { title = 'Failed', message = '' } = end.error ?? {};
  return `${paint.bad('✗')} ${plainLine(`${title}: ${message}`, NOTICE_CHARACTERS)} ${paint.faint(`(${figures})`)}`;
}

/** A text that another one follows; a server may have left its full stop out. */
function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function tokensOf(usage: Usage | undefined): string {
  if (usage?.inputTokens === undefined && usage?.outputTokens === undefined) return '';
  const cached = usage.cacheReadTokens === undefined ? '' : ` (${count(usage.cacheReadTokens)} cached)`;
  return `${count(inputOf(usage))} tokens in${cached}, ${count(usage.outputTokens)} out`;
}

function count(tokens: number | bigint | string | undefined): string {
  return tokens === undefined ? '?' : BigInt(tokens).toLocaleString('en-US');
}

/** Each line by itself, so that a pager or a copied line keeps its look. */
function paintLines(text: string, paint: (text: string) => string): string {
  return text
    .split('\n')
    .map(one => (one === '' ? '' : paint(one)))
    .join('\n');
}
