import type { ToolEvent, ToolOutputEvent } from '@tandem/client';
import { diffFigures, diffLines } from './diff-text.ts';
import type { DiffLine } from './diff-text.ts';
import { createLiveOutput } from './live-output.ts';
import type { LiveOutput } from './live-output.ts';
import type { Paint } from './plain.ts';
import { outputLines, toolFailure, toolTitle } from './tool-text.ts';

/** The lines of tool calls. Each function gives whole lines without their ends, to be written at once. */
export interface ToolCards {
  tool(event: ToolEvent): string[];
  output(event: ToolOutputEvent): string[];
  /** Something else is written now: says how many looks had no line of their own, and forgets whose lines stand last. */
  leave(): string[];
}

export interface ToolCardsOptions {
  readonly folder: string;
  readonly paint: Paint;
  /** Whether the lines that an edit changed are shown below it. */
  readonly showsDiffs: boolean;
  /** Whether the output of a command is shown while it runs. */
  readonly showsLive: boolean;
  /** Of reads and searches in a row so many get a line, the rest one together. */
  readonly foldsAfter: number;
}

/** Calls that only look, so that many of them in a row say little. */
const LOOKS: ReadonlySet<string> = new Set(['read', 'ls', 'glob', 'grep']);

/** A card for each call, and below it what it gave. Where other calls stand between the two, the line says whose it is. */
export function createToolCards({ folder, paint, showsDiffs, showsLive, foldsAfter }: ToolCardsOptions): ToolCards {
  /** Calls with their titles; those whose line was printed; the output of those that run. */
  const titles = new Map<string, string>();
  const announced = new Set<string>();
  const live = new Map<string, LiveOutput>();
  /** The call whose lines stand last. */
  let current: string | undefined;
  /** Looks in a row so far; those of them without a line. */
  let row = 0;
  let folded = 0;

  const endRow = (): string[] => {
    row = 0;
    if (folded === 0) return [];
    const text = paint.faint(`  … and ${folded} more of the kind`);
    folded = 0;
    return [text];
  };
  const announce = ({ id, name }: ToolEvent): string[] => {
    if (announced.has(id)) return [];
    announced.add(id);
    const before = LOOKS.has(name) ? [] : endRow();
    if (LOOKS.has(name) && ++row > foldsAfter) {
      folded++;
      return [];
    }
    current = id;
    return [...before, `${paint.mark('●')} ${titles.get(id) ?? ''}`];
  };
  /** The lines below the card of a call, with its title again when its card does not stand right above. */
  const below = (id: string, lines: string[]): string[] => {
    if (lines.length === 0) return [];
    const before = current === id ? [] : [paint.faint(`  ↳ ${titles.get(id) ?? ''}`)];
    current = id;
    return [...before, ...lines];
  };
  const indented = (lines: string[]) => lines.map(line => paint.faint(`    ${line}`));

  return {
    output({ id, stream, text }) {
      if (!showsLive || !announced.has(id)) return [];
      const output = live.get(id) ?? createLiveOutput();
      live.set(id, output);
      return below(id, indented(output.write(stream, text)));
    },
    tool(event) {
      const { id, status } = event;
      if (status === 'partial') return []; // its arguments are not complete, so what it does cannot be said yet
      if (event.args || !titles.has(id)) titles.set(id, toolTitle(event, folder));
      const lines = announce(event);
      if (status === 'running') return lines;
      const output = live.get(id);
      live.delete(id);
      const rest = indented(output ? output.end() : outputLines(event));
      if (output) lines.push(...below(id, rest));
      if (status === 'failed') {
        const whose = current === id ? '' : `${titles.get(id)}: `;
        lines.push(`  ${paint.bad('✗')} ${whose}${toolFailure(event)}`);
        current = id;
      }
      if (!output) lines.push(...below(id, rest));
      if (!showsDiffs) return lines;
      const figures = diffFigures(event);
      const changes = diffLines(event).map(line => `    ${diffPaint(line, paint)}`);
      return [...lines, ...below(id, [...(figures ? [paint.faint(`  ${figures}`)] : []), ...changes])];
    },
    leave() {
      current = undefined;
      return endRow();
    },
  };
}

function diffPaint({ kind, text }: DiffLine, paint: Paint): string {
  if (kind === 'added') return paint.good(text);
  return kind === 'removed' ? paint.bad(text) : paint.faint(text);
}
