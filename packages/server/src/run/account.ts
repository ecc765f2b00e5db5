import type { Usage } from '../model/port.ts';
import { addUsage } from './usage.ts';

/** What a run did so far, for its line in the log and for the retry rule (R54). */
export class RunAccount {
  modelKey = '';
  usage: Usage = {};
  modelCalls = 0;
  toolCalls = 0;
  retries = 0;
  /** When the client was first shown output, or undefined. */
  firstOutputAt: number | undefined;
  /** Whether the client was shown output, or a tool may have done something: a whole replay is no longer harmless. */
  isShown = false;

  addUsage(usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
  }

  outputShown(now: number): void {
    this.isShown = true;
    this.firstOutputAt ??= now;
  }

  toolsStarted(calls: number): void {
    this.isShown = true;
    this.toolCalls += calls;
  }
}
