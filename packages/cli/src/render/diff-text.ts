import type { ToolEvent } from '@tandem/client';
import { plainText } from './plain-text.ts';

/** A longer change is folded: its beginning, and how much is left out. */
const DIFF_LINES = 24;
const LINE_CHARACTERS = 160;

/** A line of a change, and what it is. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'hunk' | 'same' | 'folded';
  readonly text: string;
}

/** What an edit changed, as lines of a unified diff without its file names; empty for every other call. */
export function diffLines(event: ToolEvent): DiffLine[] {
  if (event.name !== 'edit') return [];
  const { diffString } = (event.result?.['success'] ?? {}) as { diffString?: unknown };
  if (typeof diffString !== 'string') return [];
  const lines = plainText(diffString)
    .replace(/\n+$/, '')
    .split('\n')
    .filter(line => line !== '' && !/^(?:---|\+\+\+|===|Index:|\\ No newline)/.test(line))
    .map(lineOf);
  if (lines.length <= DIFF_LINES) return lines;
  const left = lines.length - DIFF_LINES + 1;
  return [...lines.slice(0, DIFF_LINES - 1), { kind: 'folded', text: `… ${left} more lines` }];
}

/** `+3 −1` of an edit that succeeded; empty where nothing was counted. */
export function diffFigures(event: ToolEvent): string {
  if (event.name !== 'edit') return '';
  const { linesAdded, linesRemoved } = (event.result?.['success'] ?? {}) as {
    linesAdded?: unknown;
    linesRemoved?: unknown;
  };
  const [added, removed] = [linesAdded, linesRemoved].map(lines => (typeof lines === 'number' ? lines : 0));
  return added || removed ? `+${added} −${removed}` : '';
}

function lineOf(line: string): DiffLine {
  const flat = line.replaceAll('\t', '    ');
  const text = flat.length > LINE_CHARACTERS ? `${flat.slice(0, LINE_CHARACTERS - 1)}…` : flat;
  if (line.startsWith('@@')) return { kind: 'hunk', text };
  if (line.startsWith('+')) return { kind: 'added', text };
  return { kind: line.startsWith('-') ? 'removed' : 'same', text };
}
