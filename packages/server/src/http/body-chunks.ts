import { fault } from '@tandem/protocol';
import type { Clock } from '../clock.ts';
import type { Request } from './listen.ts';

/**
 * The chunks of a request body, as long as all of it arrives in time: a sender that drips holds no handler for ever.
 * @throws Fault with code `deadline_exceeded` when it does not.
 */
export async function* bodyChunks(request: Request, clock: Clock, ms: number): AsyncGenerator<Buffer> {
  // left early, the request is not destroyed: the answer goes out on the same connection, which stays usable (R8)
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  let isLate = false;
  let expire = () => {};
  const expired = new Promise<'expired'>(resolve => (expire = () => resolve('expired')));
  const cancel = clock.after(ms, expire);
  try {
    for (;;) {
      const next = await Promise.race([chunks.next(), expired]);
      if (next === 'expired') {
        isLate = true;
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
    // takes the reader off the request, so that the rest of its body can be thrown away
    const left = Promise.resolve(chunks.return?.());
    // behind a read that never ends it would wait for ever; a request that broke has nothing left to tell
    if (isLate) left.catch(() => undefined);
    else await left;
  }
}
