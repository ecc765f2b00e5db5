import { fault, encodeEnvelope } from '@tandem/protocol';
import type http from 'node:http';
import { describe, expect, it } from 'vitest';
import type { FakeStream } from '../fake-server.ts';
import { collectRun, startHouse } from '../run-house.ts';

const isStream = (request: http.IncomingMessage) => request.url?.endsWith('/RunSSE') === true;

describe('[§24-close-is-no-success] a peer', () => {
  it('that behaves well plays a turn with blobs, tools, questions and a checkpoint', async () => {
    const { client, server } = await startHouse(async stream => {
      await stream.runRequest();
      stream.update({ case: 'heartbeat', value: {} });
      stream.text('Look: ');
      stream.checkpoint({ readPaths: ['/one'] });
      stream.finish('done');
    });
    const run = client.run({ prompt: 'Go.' });
    const { events, end } = await collectRun(run);
    expect(end).toMatchObject({ outcome: 'ended', text: 'Look: done', conversationId: run.conversationId });
    expect(events.map(event => event.type)).toEqual(['text', 'checkpoint', 'text', 'checkpoint', 'end']);
    expect(server.streams).toHaveLength(1);
  });

  it.each<[string, (request: http.IncomingMessage, response: http.ServerResponse) => void, RegExp]>([
    ['says nothing at all', () => undefined, /no frame came from the server for 30 s.*not reached in 3 attempts/],
    ['cuts before its head', request => request.socket.destroy(), /not reached in 3 attempts/],
    ['cuts within its head', request => request.socket.end('HTTP/1.1 200 O'), /not reached in 3 attempts/],
    [
      'answers with junk instead of HTTP',
      request => request.socket.end('\0\x01\x02 no HTTP\r\n\r\n'),
      /not reached in 3/,
    ],
  ])('that %s is asked three times, and then the run fails', async (_what, misbehave, words) => {
    let asked = 0;
    const { client } = await startHouse(
      () => undefined,
      {},
      (request, response) => {
        if (!isStream(request)) return false;
        asked++;
        misbehave(request, response);
        return true;
      },
    );
    const end = await client.run({ prompt: 'Go.' }).done;
    expect(end).toMatchObject({ outcome: 'failed', error: { code: 'unavailable' } });
    expect([end.error?.message, asked]).toEqual([expect.stringMatching(words), 3]);
  });

  it('[product-refused-without-output] that goes away before it said anything is tried three times more', async () => {
    const { client, server } = await startHouse(async stream => {
      await stream.runRequest();
      stream.cut();
      void server.close();
    });
    const { events, end } = await collectRun(client.run({ prompt: 'Go.' }));
    expect(end).toMatchObject({ error: { message: expect.stringMatching(/refused the connection 3 times/) } });
    expect(events.filter(event => event.type === 'retry')).toHaveLength(3);
  });

  it('[product-refused-without-output] that goes away after it said something is tried more often', async () => {
    const { client, server } = await startHouse(async stream => {
      await stream.runRequest();
      stream.text('half');
    });
    const run = client.run({ prompt: 'Go.' });
    let refused = 0;
    for await (const event of run) {
      if (event.type === 'text') void server.close();
      if (event.type === 'retry' && /ECONNREFUSED/.test(event.reason) && ++refused === 5) run.cancel();
    }
    expect([(await run.done).outcome, refused]).toEqual(['cancelled', 5]);
  });

  /** Each breaks the first attempt in a way that may pass; the second is a good one. */
  it.each<[string, (stream: FakeStream) => void, RegExp]>([
    ['falls silent after its head', () => undefined, /no frame came from the server for 30 s/],
    ['cuts after its head', stream => stream.cut(), /without an end frame/],
    [
      'cuts within the head of a frame',
      stream => (stream.write(Uint8Array.of(0, 0, 0)), stream.cut()),
      /middle of a frame/,
    ],
    [
      'cuts within a frame',
      stream => (stream.write(Uint8Array.of(0, 0, 0, 0, 200, 1, 2, 3)), stream.cut()),
      /middle of a frame, after 8 bytes/,
    ],
    ['cuts amid the turn', stream => (stream.text('half'), stream.cut()), /without an end frame/],
    ['ends without turn_ended', stream => stream.end(), /without ending the turn/],
    [
      'announces more than it sends',
      stream => (stream.write(Uint8Array.of(0, 0, 16, 0, 0)), stream.write(new Uint8Array(100)), stream.cut()),
      /middle of a frame/,
    ],
  ])('that %s costs one attempt, and the next one goes on', async (_what, misbehave, words) => {
    const { client, server } = await startHouse(async stream => {
      await stream.runRequest();
      if (stream.index === 0) return misbehave(stream);
      stream.finish('whole');
    });
    const { events, end } = await collectRun(client.run({ prompt: 'Go.' }));
    expect([end.outcome, end.text, server.streams.length]).toEqual(['ended', 'whole', 2]);
    expect(events.find(event => event.type === 'retry')).toMatchObject({ reason: expect.stringMatching(words) });
  });

  /** What no second attempt would mend. */
  it.each<[string, (stream: FakeStream) => void, RegExp]>([
    [
      'sends frames of rubbish',
      stream => stream.write(encodeEnvelope(Buffer.from('\xff\xfe rubbish', 'latin1'))),
      /no AgentServerMessage/,
    ],
    ['announces four gigabytes', stream => stream.write(Uint8Array.of(0, 255, 255, 255, 255, 0)), /4294967295/],
    ['sends flags that do not exist', stream => stream.write(Uint8Array.of(0x40, 0, 0, 0, 0)), /flag/i],
    ['ends with no JSON', stream => stream.write(encodeEnvelope(Buffer.from('<html>'), 2)), /JSON/],
  ])('that %s fails the run, in words', async (_what, misbehave, words) => {
    const { client, server } = await startHouse(async stream => {
      await stream.runRequest();
      misbehave(stream);
      await stream.gone();
    });
    const end = await client.run({ prompt: 'Go.' }).done;
    expect([end.outcome, end.error?.message]).toEqual(['failed', expect.stringMatching(words)]);
    expect(server.streams).toHaveLength(1);
  });

  it('that goes on after its end frame is not listened to any more', async () => {
    const { client } = await startHouse(async stream => {
      await stream.runRequest();
      stream.text('all');
      stream.turnEnded();
      stream.write(encodeEnvelope(Buffer.from('{}'), 2));
      stream.text(' and more');
      await stream.gone();
    });
    expect(await client.run({ prompt: 'Go.' }).done).toMatchObject({ outcome: 'ended', text: 'all' });
  });

  it('that sends every byte by itself is understood', async () => {
    const { client, server } = await startHouse(async stream => {
      await stream.runRequest();
      const send = stream.write.bind(stream);
      stream.write = bytes => {
        for (const byte of bytes) send(Uint8Array.of(byte));
      };
      stream.text('漢🙂 ');
      stream.checkpoint();
      const id = stream.ask({ case: 'lsArgs', value: { path: '.' } });
      expect((await stream.settled(id)).control[0]).toMatchObject({ case: 'throw' });
      stream.finish('done');
    });
    expect(await client.run({ prompt: 'Go.' }).done).toMatchObject({ outcome: 'ended', text: '漢🙂 done' });
    expect(server.streams).toHaveLength(1);
  });

  it('that sends deltas of eight megabytes is read to the end', async () => {
    const size = 8 * 1024 * 1024;
    const { client } = await startHouse(async stream => {
      await stream.runRequest();
      for (const letter of 'abc') stream.text(letter.repeat(size));
      stream.update({ case: 'thinkingDelta', value: { text: 't'.repeat(size) } });
      stream.finish('');
    });
    const { events, end } = await collectRun(client.run({ prompt: 'Go.' }));
    expect([end.outcome, end.text.length]).toEqual(['ended', 3 * size]);
    expect(events.filter(event => event.type === 'thinking').map(event => event.text.length)).toEqual([size]);
  });

  it('that asks under one id twice is answered twice, and each blob and question too', async () => {
    const { client } = await startHouse(async stream => {
      await stream.runRequest();
      for (let count = 0; count < 2; count++) {
        stream.send({ case: 'kvServerMessage', value: { id: 5, message: { case: 'getBlobArgs', value: {} } } });
        stream.send({
          case: 'interactionQuery',
          value: { id: 5, query: { case: 'switchModeRequestQuery', value: {} } },
        });
        stream.ask({ case: 'lsArgs', value: { path: '.', toolCallId: 'call-1' } }, 5);
      }
      const counts = await stream.until('two of each', all => {
        const of = (kind: string) => all.filter(one => one.case === kind).length;
        const throws = stream.heard(5).control.filter(one => one.case === 'throw').length;
        const found = [of('kvClientMessage'), of('interactionResponse'), throws];
        return found.every(count => count >= 2) && found;
      });
      expect(counts).toEqual([2, 2, 2]);
      stream.finish();
    });
    expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('ended');
  });

  it('that is cut after a checkpoint is asked to resume from it, as a new request of the same run', async () => {
    const { client, server } = await startHouse(async stream => {
      await stream.runRequest();
      if (stream.index === 2) return stream.finish('end');
      stream.text(`part ${stream.index} `);
      stream.checkpoint({ readPaths: [`/after-${stream.index}`] });
      stream.text('lost');
      stream.cut();
    });
    const end = await client.run({ prompt: 'Go.', conversationId: 'conversation-1' }).done;
    expect([end.outcome, end.text]).toEqual(['ended', 'part 0 part 1 end']);
    const requests = await Promise.all(server.streams.map(stream => stream.runRequest()));
    expect(requests.map(one => one.action?.action.case)).toEqual(['userMessageAction', 'resumeAction', 'resumeAction']);
    expect(requests.map(one => one.conversationState?.readPaths)).toEqual([[], ['/after-0'], ['/after-1']]);
    expect(new Set(requests.map(one => `${one.runId} ${one.conversationId}`)).size).toBe(1);
    const ids = server.streams.map(stream => [stream.headers['x-request-id'], stream.headers['x-original-request-id']]);
    expect(new Set(ids.map(([id]) => id)).size).toBe(3);
    expect(ids.map(([, original]) => original)).toEqual(Array(3).fill(server.streams[0]!.requestId));
    expect(ids.map(([id]) => id)).toEqual(server.streams.map(stream => stream.requestId));
  });

  it('that says it may not be retried is not, though it breaks off right after', async () => {
    const { client, server } = await startHouse(async stream => {
      await stream.runRequest();
      stream.checkpoint();
      stream.end(fault('provider_broke_off', 'half of it was shown', { retryable: false }));
    });
    expect((await client.run({ prompt: 'Go.' }).done).error?.message).toContain('half of it was shown');
    expect(server.streams).toHaveLength(1);
  });
});
