import type { RunEvent } from '@tandem/client';
import { plainLine, plainText } from './plain-text.ts';
import { fitText } from './text-width.ts';
import { toolTitle } from './tool-text.ts';

/** What a run is at, in one line. */
export interface StatusText {
  note(event: RunEvent): void;
  /** At most so many columns; each call turns the spinner. */
  text(columns: number): string;
}

/** As much of a line of output as could fit beside the rest. */
const OUTPUT_CHARACTERS = 200;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Says what is waited for, how long it has been (by `now`, milliseconds), and how full the context is. */
export function createStatusText({ folder, now }: { folder: string; now: () => number }): StatusText {
  const startedAt = now();
  const running = new Map<string, string>();
  /** What commands that run put out last. */
  const newest = new Map<string, string>();
  let context = '';
  let out = 0;
  let frame = 0;
  return {
    note(event) {
      switch (event.type) {
        case 'tool':
          if (event.status === 'running') running.set(event.id, toolTitle(event, folder));
          else if (event.status !== 'partial') {
            running.delete(event.id);
            newest.delete(event.id);
          }
          return;
        case 'tool-output': {
          const line = plainText(event.text).trimEnd().split('\n').at(-1) ?? '';
          if (line.trim() !== '') newest.set(event.id, plainLine(line, OUTPUT_CHARACTERS));
          return;
        }
        case 'child':
          // what the child is at stands for the call that began it, until that ends
          if (event.event.type === 'tool' && event.event.status === 'running' && running.has(event.id))
            running.set(event.id, `Agent: ${toolTitle(event.event, folder)}`);
          return;
        case 'summary':
          if (event.status === 'started') running.set('summary', 'Shortening the conversation');
          else running.delete('summary');
          return;
        case 'tokens':
          out += event.count;
          return;
        case 'checkpoint':
          if (event.usedTokens === undefined) return;
          context = event.usedTokens.toLocaleString('en-US');
          if (event.maxTokens) context += ` of ${event.maxTokens.toLocaleString('en-US')}`;
          context += ' tokens';
          return;
        default: // nothing that is waited for
      }
    },
    text(columns) {
      const [id, what = 'Working'] = [...running].at(-1) ?? [];
      const output = id === undefined ? undefined : newest.get(id);
      const spinner = FRAMES[frame++ % FRAMES.length];
      const figures = [context, out > 0 ? `${out.toLocaleString('en-US')} out` : ''];
      const parts = [
        `${spinner} ${what}`,
        `${((now() - startedAt) / 1000).toFixed(0)} s`,
        ...figures,
        output && `› ${output}`,
      ];
      return fitText(parts.filter(Boolean).join(' · '), columns);
    },
  };
}
