import { fault } from '@tandem/protocol';
import type { Clock } from '../clock.ts';
import type { Request } from './listen.ts';

/**
 * The chunks of a request body, as long as all of it arrives in time: a sender that drips holds no handler for ever.
 * @throws Fault with code `deadline_exceeded` when it does not.
 */
export async function* bodyChunks(request: Request, clock: Clock, ms: number): AsyncGenerator<Buffer> {
  const chunks = (request as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let expire = () => {};
  const expired = new Promise<'expired'>(resolve => (expire = () => resolve('expired')));
  const cancel = clock.after(ms, expire);
  try {
    for (;;) {
      const next = await Promise.race([chunks.next(), expired]);
      if (next === 'expired') {
        throw fault('malformed_message', `The request body did not arrive within ${ms / 1000} s.`, {
          code: 'deadline_exceeded',
          title: 'Request too slow',
          retryable: true,
        });
      }
      if (next.done) return;
      yield next.value;
    }
  } finally {
    cancel();
  }
}
