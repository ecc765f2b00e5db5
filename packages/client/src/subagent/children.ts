import type { ConversationStateStructure } from '@tandem/protocol/agent';
import type { EndEvent, RunEvent } from '../event.ts';
import type { Executors } from '../executor.ts';
import { limits } from '../limits.ts';
import type { ChildOrigin, RunOptions } from '../run-request.ts';
import type { Run } from '../run.ts';

/** Begins a child run on the same server. */
export type BeginChild = (child: ChildOrigin, options: RunOptions, executors: Executors) => Run;

/** What a run lends to its children. */
export interface ParentRun {
  begin: BeginChild;
  depth: number;
  executors: Executors;
  conversationId: string;
  /** Tells the parent's reader what the child of a tool call tells. */
  report(toolCallId: string, event: RunEvent): void;
}

/** One child run, under way or over. */
export interface Child {
  /** Its conversation, which is also its name for the server. */
  readonly id: string;
  readonly toolCallId: string;
  readonly run: Run;
  /** Tool calls that are over. */
  toolCalls: number;
  /** Absent while it is under way. */
  end?: EndEvent;
  /** Set while its parent waits for it: lets the parent go on. */
  toBackground?: () => void;
}

/** The child runs of one client, by their id. Those that are over are kept for a while, to be awaited or resumed. */
export class Children {
  private readonly byId = new Map<string, Child>();

  get(id: string): Child | undefined {
    return this.byId.get(id);
  }

  /** The child that its parent waits for in a tool call. */
  waitedFor(toolCallId: string): Child | undefined {
    return [...this.byId.values()].find(child => child.toolCallId === toolCallId && child.toBackground !== undefined);
  }

  get underWay(): number {
    return [...this.byId.values()].filter(child => child.end === undefined).length;
  }

  /** The last checkpoint of a child, for a resume. */
  stateOf(id: string): ConversationStateStructure | undefined {
    return this.byId.get(id)?.run.state;
  }

  /** Takes a run in and follows it to its end. */
  add(run: Run, toolCallId: string, onEvent: (event: RunEvent) => void): Child {
    const child: Child = { id: run.conversationId, toolCallId, run, toolCalls: 0 };
    // The newest is the last, so the first of those that are over is the oldest.
    this.byId.delete(child.id);
    this.byId.set(child.id, child);
    void this.follow(child, onEvent);
    this.forget();
    return child;
  }

  cancelAll(reason: string): void {
    for (const child of this.byId.values()) child.run.cancel(reason);
  }

  private async follow(child: Child, onEvent: (event: RunEvent) => void): Promise<void> {
    for await (const event of child.run) {
      if (event.type === 'tool' && (event.status === 'completed' || event.status === 'failed')) child.toolCalls++;
      // How it ended is the result of the parent's call.
      if (event.type !== 'end') onEvent(event);
      else child.end = event;
    }
  }

  private forget(): void {
    let over = this.byId.size - this.underWay;
    for (const [id, child] of this.byId) {
      if (over <= limits.childrenKept) return;
      if (child.end === undefined) continue;
      this.byId.delete(id);
      over--;
    }
  }
}
