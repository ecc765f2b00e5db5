import type { Fault } from '@tandem/protocol';
import type { AgentServerMessage, InteractionUpdate } from '@tandem/protocol/agent';

/** Watches the frames of one stream as its reader gets them: cards, ends, and nothing after an end (R21, R53). */
export class StreamWatch {
  readonly faults: string[] = [];
  ends = 0;
  fault: Fault | undefined;
  isTurnEnded = false;
  /** The text that was shown. */
  text = '';
  readonly #started = new Set<string>();
  readonly #completed = new Set<string>();

  /** Whether the turn is over for the client: `turn_ended`, then an end frame without a fault (§24). */
  get isSuccess(): boolean {
    return this.isTurnEnded && this.ends > 0 && this.fault === undefined;
  }

  end(told: Fault | undefined): void {
    this.ends++;
    if (this.ends > 1) this.faults.push(`end frame number ${this.ends} on one stream`);
    this.fault ??= told;
    for (const callId of this.#started)
      if (!this.#completed.has(callId)) this.faults.push(`the card of ${callId} was started and never completed`);
    if (told === undefined && !this.isTurnEnded)
      this.faults.push('an end frame without a fault and without turn_ended');
    if (told !== undefined && this.isTurnEnded) this.faults.push('an end frame with a fault after turn_ended');
  }

  message({ message }: AgentServerMessage): void {
    if (this.ends > 0) this.faults.push(`${message.case} after the end frame`);
    if (message.case === 'interactionUpdate') this.#update(message.value.message);
    else if (this.isTurnEnded) this.faults.push(`${message.case} after turn_ended`);
  }

  #update(update: InteractionUpdate['message']): void {
    if (this.isTurnEnded && update.case !== 'heartbeat') this.faults.push(`${update.case} after turn_ended`);
    switch (update.case) {
      case 'textDelta':
        this.text += update.value.text;
        break;
      case 'turnEnded':
        this.isTurnEnded = true;
        break;
      case 'partialToolCall':
      case 'toolCallDelta':
        if (this.#completed.has(update.value.callId))
          this.faults.push(`${update.case} of ${update.value.callId} after its completion`);
        break;
      case 'toolCallStarted':
        if (this.#started.has(update.value.callId))
          this.faults.push(`the card of ${update.value.callId} was started twice`);
        this.#started.add(update.value.callId);
        break;
      case 'toolCallCompleted':
        if (this.#completed.has(update.value.callId))
          this.faults.push(`the card of ${update.value.callId} was completed twice`);
        this.#completed.add(update.value.callId);
        break;
      default:
    }
  }
}
