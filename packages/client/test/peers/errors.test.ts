import { encodeEnvelope, fault } from '@tandem/protocol';
import type { Code } from '@tandem/protocol';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.ts';
import { collectRun, startHouse } from '../run-house.ts';

/** Whether a code may pass when nothing else is said. */
const CODES: Record<Exclude<Code, 'canceled'>, boolean> = {
  unknown: true,
  invalid_argument: false,
  deadline_exceeded: true,
  not_found: false,
  already_exists: false,
  permission_denied: false,
  resource_exhausted: true,
  failed_precondition: false,
  aborted: true,
  out_of_range: false,
  unimplemented: false,
  internal: true,
  unavailable: true,
  data_loss: false,
  unauthenticated: false,
};
const codes = Object.entries(CODES) as [Code, boolean][];

/** Plays a run whose first attempt ends with these bytes of an end frame, and whose second is good. */
async function playEnd(end: Uint8Array) {
  const { client, server } = await startHouse(async stream => {
    await stream.runRequest();
    if (stream.index > 0) return stream.finish('second');
    stream.text('first ');
    stream.write(encodeEnvelope(end, 2));
    stream.cut();
  });
  const { events, end: ended } = await collectRun(client.run({ prompt: 'Go.' }));
  return { ended, retry: events.find(event => event.type === 'retry'), attempts: server.streams.length };
}
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('[§24-error-end-is-failure] an error in the end frame', () => {
  it.each(codes)('of code %s without a detail is tried again: %s', async (code, again) => {
    const { ended, retry, attempts } = await playEnd(json({ error: { code, message: 'in these words' } }));
    expect(attempts).toBe(again ? 2 : 1);
    if (again) {
      expect(ended).toMatchObject({ outcome: 'ended', text: 'second' });
      expect(retry).toMatchObject({ reason: expect.stringContaining('in these words') });
    } else
      expect(ended).toMatchObject({ outcome: 'failed', error: { code, message: 'in these words', retryable: false } });
  });

  it.each(codes)('of code %s whose detail forbids it is never tried again', async code => {
    const { client, server } = await startHouse(async stream => {
      await stream.runRequest();
      stream.end(fault('internal', 'for good', { code, title: 'Over', retryable: false }));
    });
    expect((await client.run({ prompt: 'Go.' }).done).error).toEqual({
      code,
      title: 'Over',
      message: 'for good',
      retryable: false,
    });
    expect(server.streams).toHaveLength(1);
  });

  it.each(codes)(
    'of code %s whose detail allows it is tried again only when the code may pass: %s',
    async (code, again) => {
      const { client, server } = await startHouse(async stream => {
        await stream.runRequest();
        if (stream.index > 0) return stream.finish();
        stream.end(fault('internal', 'once more', { code, retryable: true }));
      });
      await client.run({ prompt: 'Go.' }).done;
      expect(server.streams).toHaveLength(again ? 2 : 1);
    },
  );

  it('of code canceled is a cancel and no failure, with a detail and without', async () => {
    expect((await playEnd(json({ error: { code: 'canceled', message: 'x' } }))).ended).toMatchObject({
      outcome: 'cancelled',
    });
  });

  it.each([
    ['a code that does not exist', { error: { code: 'gone_fishing', message: 'm' } }],
    ['no code', { error: { message: 'm' } }],
    ['no message', { error: { code: 'not_found' } }],
    ['an error that is a text', { error: 'broken' }],
    ['details that are none', { error: { code: 'not_found', message: 'm', details: [1, null, 'x', { type: 3 }] } }],
  ])('with %s is an end with an error, and nothing is thrown', async (_what, value) => {
    const { ended, attempts } = await playEnd(json(value));
    expect(attempts > 1 || ended.outcome === 'failed').toBe(true);
  });

  it('that asks for a pause gets it', async () => {
    const { client } = await startHouse(async stream => {
      await stream.runRequest();
      if (stream.index > 0) return stream.finish();
      const additionalInfo = { retry_after_seconds: '17' };
      stream.end(fault('provider_rate_limited', 'slow down', { retryable: true, additionalInfo }));
    });
    const { events } = await collectRun(client.run({ prompt: 'Go.' }));
    expect(events.find(event => event.type === 'retry')).toMatchObject({ delayMs: 17_000 });
  });
});

describe('[§24-close-is-no-success] an HTTP status', () => {
  const PAGE = `<html><head><title>Bad gateway</title></head><body>${'<p>proxy</p>'.repeat(10_000)}</body></html>`;
  it.each([
    [400, 'text/plain', false],
    [401, 'application/json', false],
    [403, 'text/html', false],
    [404, 'text/html', false],
    [405, 'text/html', false],
    [408, 'text/html', true],
    [413, 'text/html', false],
    [429, 'text/html', true],
    [500, 'text/html', true],
    [502, 'text/html', true],
    [503, 'application/json', true],
    [504, 'text/html', true],
    [200, 'text/html', false],
    [204, 'text/plain', false],
  ])('%i with %s, from a proxy, is an error that names it, and tried again: %s', async (status, type, again) => {
    for (const path of ['/RunSSE', '/BidiAppend']) {
      let first = true;
      const { client } = await startHouse(
        async stream => {
          if (!(path === '/BidiAppend' && stream.index === 0)) await stream.runRequest();
          else return await stream.gone();
          stream.finish('second');
        },
        {},
        (request, response) => {
          if (!first || request.url?.endsWith(path) !== true) return false;
          first = false;
          response.writeHead(status, { 'content-type': type }).end(status === 204 ? '' : PAGE);
          return true;
        },
      );
      const { events, end } = await collectRun(client.run({ prompt: 'Go.' }));
      expect([path, end.outcome]).toEqual([path, again ? 'ended' : 'failed']);
      const retry = events.find(event => event.type === 'retry');
      const words = retry?.type === 'retry' ? retry.reason : (end.error?.message ?? '');
      expect(words).toContain(status === 200 ? 'text/html' : String(status));
      expect(words.length).toBeLessThan(1_000);
    }
  });

  it('with a text without end is read no further than its bound', async () => {
    let written = 0;
    const { client } = await startHouse(
      () => undefined,
      {},
      (request, response) => {
        if (request.url?.endsWith('/RunSSE') !== true) return false;
        response.writeHead(403, { 'content-type': 'text/plain' });
        const pour = () => {
          if (response.destroyed || written > 64 * limits.unaryAnswerBytes) return;
          written += 65_536;
          if (response.write(Buffer.alloc(65_536, 120))) setImmediate(pour);
          else response.once('drain', pour);
        };
        pour();
        return true;
      },
    );
    const run = client.run({ prompt: 'Go.' });
    for await (const event of run) if (event.type === 'retry') run.cancel();
    await run.done;
    expect(written).toBeLessThan(32 * limits.unaryAnswerBytes);
  });
});
