import type { RunEvent } from '@tandem/client';
import { fitText } from './text-width.ts';
import { toolTitle } from './tool-text.ts';

/** What a run is at, in one line. */
export interface StatusText {
  note(event: RunEvent): void;
  /** At most so many columns; each call turns the spinner. */
  text(columns: number): string;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Says what is waited for, how long it has been (by `now`, milliseconds), and how full the context is. */
export function createStatusText({ folder, now }: { folder: string; now: () => number }): StatusText {
  const startedAt = now();
  const running = new Map<string, string>();
  let tokens = '';
  let frame = 0;
  return {
    note(event) {
      if (event.type === 'tool') {
        if (event.status === 'running') running.set(event.id, toolTitle(event, folder));
        else if (event.status !== 'partial') running.delete(event.id);
      } else if (event.type === 'checkpoint' && event.usedTokens !== undefined) {
        const most = event.maxTokens ? ` of ${event.maxTokens.toLocaleString('en-US')}` : '';
        tokens = `${event.usedTokens.toLocaleString('en-US')}${most} tokens`;
      } else if (event.type === 'usage' && event.outputTokens !== undefined) {
        tokens = `${event.outputTokens.toLocaleString('en-US')} tokens out`;
      }
    },
    text(columns) {
      const what = [...running.values()].at(-1) ?? 'Working';
      const spinner = FRAMES[frame++ % FRAMES.length];
      const parts = [`${spinner} ${what}`, `${((now() - startedAt) / 1000).toFixed(0)} s`, tokens];
      return fitText(parts.filter(Boolean).join(' · '), columns);
    },
  };
}
