import { plainText } from './plain-text.ts';
import { OUTPUT_LINES, outputLine } from './tool-text.ts';

/** The output of one command while it runs: its first lines as they come, and once it ended what is left of a short one or the end of a long one. */
export interface LiveOutput {
  /** Takes a piece and gives the lines that can be shown now. */
  write(stream: 'stdout' | 'stderr', piece: string): string[];
  /** Gives the rest; nothing comes after it. */
  end(): string[];
}

const HALF = OUTPUT_LINES / 2;
/** A line that does not end is cut here; no terminal shows that much. */
const OPEN_CHARACTERS = 4_000;

export function createLiveOutput(): LiveOutput {
  /** The line of each stream that is not over, as it came: a control sequence may go on in the next piece. */
  const open = { stdout: '', stderr: '' };
  /** The newest lines after the first ones, and how many there were of all. */
  const last: string[] = [];
  let count = 0;

  const take = (text: string): string[] =>
    plainText(text)
      .split('\n')
      .flatMap(line => {
        const shown = outputLine(line);
        if (++count <= HALF) return shown;
        last.push(shown);
        if (last.length > OUTPUT_LINES - HALF) last.shift();
        return [];
      });

  return {
    write(stream, piece) {
      const text = open[stream] + piece;
      const end = text.lastIndexOf('\n');
      open[stream] = text.slice(end + 1).slice(0, OPEN_CHARACTERS);
      return end === -1
        ? []
        : take(
            text
              .slice(0, end + 1)
              .replaceAll('\r\n', '\n')
              .slice(0, -1),
          );
    },
    end() {
      const first = [open.stdout, open.stderr].flatMap(text => (text === '' ? [] : take(text)));
      const folded = count - HALF - last.length;
      return [...first, ...(folded > 0 ? [`… ${folded} more lines`] : []), ...last];
    },
  };
}
