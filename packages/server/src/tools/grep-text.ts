import type { GrepSuccess } from '@tandem/protocol/agent';
import { cutLine, excerptOf } from './excerpt.ts';
import { LINE_CHARACTERS, RESULT_CHARACTERS } from './limits.ts';
import { fileName, isTruncated, workspaceResults } from './workspace-results.ts';

/** One line of a search result; `file` is printed above the first line of each file. */
interface Line {
  file?: string;
  text: string;
  /** A gap of the file lies before it: `--`, as ripgrep prints it. */
  gap?: boolean;
}

interface Found {
  lines: Line[];
  /** What was counted, e.g. `12 matching lines`. */
  counted: string;
}

const plural = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

/**
 * A search result for the model, all workspaces joined, `limit` lines (or files) from `offset` on (R30). Says how many there
 * are, and "at least" when the client cut its answer.
 */
export function grepText(result: GrepSuccess, limit: number, offset: number): string {
  const results = workspaceResults(result);
  const { lines, counted } = collect(results);
  const atLeast = isTruncated(results) ? 'at least ' : '';
  if (lines.length === 0) return `No matches for ${result.pattern}.`;
  if (offset >= lines.length) return `Nothing from offset ${offset} on: the search found ${atLeast}${counted}.`;
  const shown = lines.slice(offset, offset + limit);
  const body = excerptOf(printLines(shown), RESULT_CHARACTERS);
  const head = `Found ${atLeast}${counted}.`;
  const left = lines.length - offset - shown.length;
  if (left === 0 && offset === 0) return `${head}\n${body}`;
  const span = `Showing ${offset + 1} to ${offset + shown.length} of ${atLeast}${lines.length}.`;
  return `${head} ${span}\n${body}${left > 0 ? `\n(Read on with offset ${offset + shown.length}.)` : ''}`;
}

function collect(results: ReturnType<typeof workspaceResults>): Found {
  const several = results.length > 1;
  const lines: Line[] = [];
  let [matches, files] = [0, 0];
  let mode = 'content';
  for (const { root, result } of results) {
    mode = result.case;
    if (result.case === 'content') {
      matches += result.value.totalMatchedLines;
      files += result.value.matches.length;
      for (const match of result.value.matches) {
        const file = fileName(match.file, root, several);
        let last: number | undefined;
        for (const { lineNumber, content, isContextLine, contentTruncated } of match.matches) {
          const text = cutLine(content.replace(/\n$/, ''), LINE_CHARACTERS) + (contentTruncated ? '…' : '');
          const gap = last !== undefined && lineNumber > last + 1;
          lines.push({ file, gap, text: `${lineNumber}${isContextLine ? '-' : ':'}${text}` });
          last = lineNumber + content.replace(/\n$/, '').split('\n').length - 1;
        }
      }
    } else if (result.case === 'files') {
      files += Math.max(result.value.totalFiles, result.value.files.length);
      lines.push(...result.value.files.map(file => ({ text: fileName(file, root, several) })));
    } else {
      matches += result.value.totalMatches;
      files += Math.max(result.value.totalFiles, result.value.counts.length);
      lines.push(
        ...result.value.counts.map(({ file, count }) => ({ text: `${fileName(file, root, several)}:${count}` })),
      );
    }
  }
  const inFiles = plural(files, 'file', 'files');
  if (mode === 'files') return { lines, counted: inFiles };
  const shown = lines.filter(line => mode !== 'content' || /^\d+:/.test(line.text)).length;
  const total = mode === 'content' ? Math.max(matches, shown) : matches;
  const noun =
    mode === 'content' ? plural(total, 'matching line', 'matching lines') : plural(total, 'match', 'matches');
  return { lines, counted: `${noun} in ${inFiles}` };
}

function printLines(lines: readonly Line[]): string {
  const anyGap = lines.some(line => /^\d+-/.test(line.text));
  const printed: string[] = [];
  let file: string | undefined;
  for (const line of lines) {
    if (line.file !== undefined && line.file !== file) printed.push(line.file);
    else if (line.gap && anyGap) printed.push('--');
    file = line.file;
    printed.push(line.text);
  }
  return printed.join('\n');
}
