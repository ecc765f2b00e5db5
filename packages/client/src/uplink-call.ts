import { create, toBinary } from '@bufbuild/protobuf';
import { encodeEnvelope } from '@tandem/protocol';
import { AgentClientMessageSchema } from '@tandem/protocol/agent';
import { limits } from './limits.ts';
import type { ClientBranch, Uplink } from './uplink.ts';

/**
 * The way up of a `Run` call (R1): messages become envelopes of the request's body, in their order. The transport reads them as fast as the
 * connection takes them. When the call breaks, its answer tells so.
 */
export class CallUplink implements Uplink {
  private readonly waiting: Uint8Array[] = [];
  private wakeReader: (() => void) | undefined;
  private wakeWriters: (() => void)[] = [];
  private closed = false;

  async send(message: ClientBranch): Promise<void> {
    if (this.closed) return;
    this.waiting.push(
      encodeEnvelope(toBinary(AgentClientMessageSchema, create(AgentClientMessageSchema, { message }))),
    );
    this.wakeReader?.();
    while (this.waiting.length >= limits.appendsInFlight && !this.closed) await this.room();
  }

  async flush(): Promise<void> {
    while (this.waiting.length > 0 && !this.closed) await this.room();
  }

  close(): void {
    this.closed = true;
    this.waiting.length = 0;
    this.wakeReader?.();
    this.wake();
  }

  /** The body of the request; ends when the uplink is closed. For one reader. */
  async *envelopes(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = this.waiting.shift();
      if (next !== undefined) {
        yield next;
        this.wake();
        continue;
      }
      if (this.closed) return;
      await new Promise<void>(resolve => (this.wakeReader = resolve));
      this.wakeReader = undefined;
    }
  }

  private room(): Promise<void> {
    return new Promise(resolve => this.wakeWriters.push(resolve));
  }

  private wake(): void {
    const writers = this.wakeWriters;
    this.wakeWriters = [];
    for (const wake of writers) wake();
  }
}
