import type { RunEvent, ToolEvent } from './event.ts';

/**
 * What a run has shown so far, as far as its end needs it: the text after the last tool call, and the calls that are still open. A retry
 * takes back the text that the next attempt will say again.
 */
export class Progress {
  /** The text after the last tool call. */
  text = '';
  private textAtCheckpoint = '';
  private readonly open = new Map<string, ToolEvent>();

  /** Takes note of an event that is about to be shown. */
  note(event: RunEvent): void {
    if (event.type === 'text') this.text += event.text;
    if (event.type === 'checkpoint') this.textAtCheckpoint = this.text;
    if (event.type !== 'tool') return;
    this.text = '';
    if (event.status === 'partial' || event.status === 'running') this.open.set(event.id, event);
    else this.open.delete(event.id);
  }

  /** A new attempt begins: from the last checkpoint, or from the start. */
  restart(fromCheckpoint: boolean): void {
    this.text = fromCheckpoint ? this.textAtCheckpoint : '';
  }

  /** Events that close the calls left open when a stream broke: nothing may look as if it still ran (R21). */
  closeOpen(): ToolEvent[] {
    const events = [...this.open.values()].map(({ id, name }): ToolEvent => ({
      type: 'tool',
      id,
      name,
      status: 'failed',
    }));
    this.open.clear();
    return events;
  }
}
