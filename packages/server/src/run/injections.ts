import { create } from '@bufbuild/protobuf';
import { ContextInjectionStateUpdateSchema } from '@tandem/protocol/agent';
import type { ContextInjectionState, InjectContextAction } from '@tandem/protocol/agent';
import { updateMessage } from '../bridge/outbox.ts';
import type { Outbox } from '../bridge/outbox.ts';

/** Context that came while the run was at work, in order, until the next model call takes it (R65, F62). */
export class Injections {
  readonly #outbox: Outbox;
  readonly #runId: string;
  #queued: InjectContextAction[] = [];

  constructor(outbox: Outbox, runId: string) {
    this.#outbox = outbox;
    this.#runId = runId;
  }

  add(action: InjectContextAction): void {
    if (action.expectedRunId !== '' && action.expectedRunId !== this.#runId) {
      const reason = `It was meant for run ${action.expectedRunId}; this is run ${this.#runId}.`;
      this.#tell(action, { case: 'rejected', value: { $typeName: 'agent.v1.ContextInjectionRejected', reason } });
    } else if (action.payload.case === undefined) {
      this.#tell(action, {
        case: 'rejected',
        value: { $typeName: 'agent.v1.ContextInjectionRejected', reason: 'It has no content.' },
      });
    } else this.#queued.push(action);
  }

  /** Takes what is queued, to be delivered now. */
  take(): InjectContextAction[] {
    const taken = this.#queued;
    this.#queued = [];
    return taken;
  }

  delivered(action: InjectContextAction, now: number): void {
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

  /** The run is over: what was not delivered is for the next turn. */
  close(): void {
    for (const action of this.take()) {
      this.#tell(action, {
        case: 'queuedForNextTurn',
        value: { $typeName: 'agent.v1.ContextInjectionQueuedForNextTurn' },
      });
    }
  }

  #tell(action: InjectContextAction, state: ContextInjectionState['state']): void {
    const value = create(ContextInjectionStateUpdateSchema, { injectionId: action.injectionId, state: { state } });
    this.#outbox.append(updateMessage({ case: 'contextInjectionState', value }));
  }
}
