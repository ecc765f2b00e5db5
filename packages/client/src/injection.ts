import { create } from '@bufbuild/protobuf';
import { ConversationActionSchema, InjectContextActionSchema } from '@tandem/protocol/agent';
import type { ConversationAction, InteractionUpdate } from '@tandem/protocol/agent';

/**
 * What became of a text that was injected into a running run (R65): the model has seen it; it waits for the next turn; the server took it back or
 * refused it; or the run was over before anyone said. In all cases but the first the text has to be sent again by whoever wants it heard.
 */
export type InjectionOutcome =
  | { outcome: 'delivered' | 'next-turn' | 'cancelled' | 'unanswered' }
  | { outcome: 'rejected'; reason: string };

interface Pending {
  action: ConversationAction;
  settle: (outcome: InjectionOutcome) => void;
}

/** The injections of one run that nobody has decided on yet. A new attempt is told all of them again, under their old ids. */
export class Injections {
  private readonly runId: string;
  private readonly pending = new Map<string, Pending>();
  private over = false;

  constructor(runId: string) {
    this.runId = runId;
  }

  /** Makes one; `send` puts it on its way now. The promise never rejects. */
  add(
    injection: { id: string; messageId: string; text: string },
    send: (action: ConversationAction) => void,
  ): Promise<InjectionOutcome> {
    if (this.over) return Promise.resolve({ outcome: 'unanswered' });
    const { id, messageId, text } = injection;
    const value = create(InjectContextActionSchema, {
      injectionId: id,
      expectedRunId: this.runId,
      payload: { case: 'userContext', value: { userMessage: { text, messageId } } },
    });
    const action = create(ConversationActionSchema, { action: { case: 'injectContextAction', value } });
    return new Promise(settle => {
      this.pending.set(id, { action, settle });
      send(action);
    });
  }

  /** Puts everything that is undecided on its way again. */
  repeat(send: (action: ConversationAction) => void): void {
    for (const { action } of this.pending.values()) send(action);
  }

  /** Takes note of an update; only one kind is about injections. */
  note({ message }: InteractionUpdate): void {
    if (message.case !== 'contextInjectionState') return;
    const { injectionId, state } = message.value;
    const branch = state?.state;
    switch (branch?.case) {
      case 'delivered':
      case 'cancelled':
        return this.settle(injectionId, { outcome: branch.case });
      case 'queuedForNextTurn':
        return this.settle(injectionId, { outcome: 'next-turn' });
      case 'rejected':
        return this.settle(injectionId, { outcome: 'rejected', reason: branch.value.reason });
      // Queued is no decision, and a state of a newer schema is none that we know.
      case 'queued':
      case undefined:
        return;
    }
  }

  /** The run is over: what is undecided stays so. */
  close(): void {
    this.over = true;
    for (const id of [...this.pending.keys()]) this.settle(id, { outcome: 'unanswered' });
  }

  private settle(id: string, outcome: InjectionOutcome): void {
    this.pending.get(id)?.settle(outcome);
    this.pending.delete(id);
  }
}
