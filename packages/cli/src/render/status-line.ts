import type { RunEvent } from '@tandem/client';
import type { Output } from '../surroundings.ts';
import { toolTitle } from './tool-text.ts';

/** One line at the foot of a terminal that says what is waited for, how long, and how full the context is. */
export interface StatusLine {
  note(event: RunEvent): void;
  /** Takes the line away, before anything else is written. */
  hide(): void;
  /** Draws it again, once what was written has ended its line. */
  show(): void;
  close(): void;
}

export interface StatusOptions {
  readonly output: Output;
  readonly folder: string;
  /** Milliseconds. */
  readonly now: () => number;
  readonly faint: (text: string) => string;
  /** Calls back again and again until it is told to stop. */
  readonly tick?: (act: () => void, everyMs: number) => () => void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const TICK_MS = 100;
const COLUMNS = 80;

const every = (act: () => void, everyMs: number) => {
  const timer = setInterval(act, everyMs);
  timer.unref();
  return () => clearInterval(timer);
};

/** Only for a terminal. Nothing is drawn before the first `show`. */
export function createStatusLine({ output, folder, now, faint, tick = every }: StatusOptions): StatusLine {
  const startedAt = now();
  const running = new Map<string, string>();
  let tokens = '';
  let isShown = false;
  let isDrawn = false;
  let frame = 0;

  const draw = () => {
    if (!isShown || output.destroyed) return;
    const what = [...running.values()].at(-1) ?? 'Working';
    const parts = [`${FRAMES[frame++ % FRAMES.length]} ${what}`, `${((now() - startedAt) / 1000).toFixed(0)} s`, tokens];
    const room = Math.max(1, (output.columns || COLUMNS) - 1);
    const text = Array.from(parts.filter(Boolean).join(' · ')).slice(0, room).join('');
    output.write(`\r\x1b[K${faint(text)}`);
    isDrawn = true;
  };
  const stop = tick(draw, TICK_MS);
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
    hide() {
      if (isDrawn && !output.destroyed) output.write('\r\x1b[K');
      isDrawn = isShown = false;
    },
    show() {
      isShown = true;
      draw();
    },
    close() {
      this.hide();
      stop();
    },
  };
}
