import type { RunEvent } from '@tandem/client';
import type { Output } from '../surroundings.ts';
import { createStatusText } from './status-text.ts';

/** One line at the foot of a terminal that says what is waited for. */
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

const TICK_MS = 100;
/** How wide a terminal is that does not say. */
const COLUMNS = 80;

const every = (act: () => void, everyMs: number) => {
  const timer = setInterval(act, everyMs);
  timer.unref();
  return () => clearInterval(timer);
};

/** Only for a terminal. Nothing is drawn before the first `show`. */
export function createStatusLine({ output, folder, now, faint, tick = every }: StatusOptions): StatusLine {
  const status = createStatusText({ folder, now });
  let isShown = false;
  let isDrawn = false;

  const draw = () => {
    if (!isShown || output.destroyed) return;
    // the last column stays free: some terminals begin a new line there
    output.write(`\r\x1b[K${faint(status.text(Math.max(1, (output.columns || COLUMNS) - 1)))}`);
    isDrawn = true;
  };
  const stop = tick(draw, TICK_MS);
  return {
    note: event => status.note(event),
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
