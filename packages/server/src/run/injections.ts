import { create } from '@bufbuild/protobuf';
import { ContextInjectionStateUpdateSchema } from '@tandem/protocol/agent';
import type { ContextInjectionState, InjectContextAction } from '@tandem/protocol/agent';
import { updateMessage } from '../bridge/outbox.ts';
import type { Outbox } from '../bridge/outbox.ts';

/** Context that came while the run was at work, in order, until the next model call takes it (R65, F62). */
export class Injections {
  readonly #outbox: Outbox;
  readonly #runId: string;
  readonly #queued: InjectContextAction[] = [];

  constructor(outbox: Outbox, runId: string) {
    this.#outbox = outbox;
    this.#runId = runId;
  }

  add(action: InjectContextAction): void {
    if (action.expectedRunId !== '' && action.expectedRunId !== this.#runId) {
      this.#reject(action, `It was meant for run ${action.expectedRunId}; this is run ${this.#runId}.`);
    } else if (!hasContent(action)) this.#reject(action, 'It has no content.');
    else this.#queued.push(action);
  }

  /** What came first of all that waits. */
  get first(): InjectContextAction | undefined {
    return this.#queued[0];
  }

  /** The first one is in the history. */
  delivered(action: InjectContextAction, now: number): void {
    this.#queued.shift();
    this.#tell(action, {
      case: 'delivered',
      value: {
        $typeName: 'agent.v1.ContextInjectionDelivered',
        step: 0,
        deliveryBatchId: '',
        deliveredAtMs: BigInt(now),
      },
    });
  }

  /** The first one cannot be taken. */
  rejected(action: InjectContextAction, reason: string): void {
    this.#queued.shift();
    this.#reject(action, reason);
  }

  /** The run is over: what was not delivered is for the next turn. */
  close(): void {
    for (const action of this.#queued.splice(0)) {
      this.#tell(action, {
        case: 'queuedForNextTurn',
        value: { $typeName: 'agent.v1.ContextInjectionQueuedForNextTurn' },
      });
    }
  }

  #reject(action: InjectContextAction, reason: string): void {
    this.#tell(action, { case: 'rejected', value: { $typeName: 'agent.v1.ContextInjectionRejected', reason } });
  }

  #tell(action: InjectContextAction, state: ContextInjectionState['state']): void {
    const value = create(ContextInjectionStateUpdateSchema, { injectionId: action.injectionId, state: { state } });
    this.#outbox.append(updateMessage({ case: 'contextInjectionState', value }));
  }
}

/** Whether anything of it would reach the model. */
function hasContent({ payload }: InjectContextAction): boolean {
  if (payload.case === 'systemContext') return payload.value.content !== '';
  const message = payload.case === 'userContext' ? payload.value.userMessage : undefined;
  if (!message) return false;
  const { text, textBlobId, selectedContext, hookAdditionalContexts } = message;
  return text !== '' || !!textBlobId?.length || selectedContext !== undefined || hookAdditionalContexts.length > 0;
}
