import { create } from '@bufbuild/protobuf';
import { fault } from '@tandem/protocol';
import { ReadResultSchema } from '@tandem/protocol/agent';
import { expect, it } from 'vitest';
import type { AnyExecutor } from '../../src/executor.ts';
import { limits } from '../../src/limits.ts';
import { ManualClock } from '../clocks.ts';
import type { FakeStream } from '../fake-server.ts';
import { collectRun, slowWrite, startHouse } from '../run-house.ts';

const write = { case: 'writeArgs' as const, value: { path: 'a', fileText: 'x', toolCallId: 'call-1' } };
/** The ways of a message over a real socket, without any time of the clock. */
const settle = () => new Promise(resolve => setTimeout(resolve, 20));

it('S01: a tool of 130 seconds is no silence, and after it silence counts from its end', async () => {
  const clock = new ManualClock();
  const tool = slowWrite();
  let asked: (number: number) => void = () => undefined;
  const exec = new Promise<number>(resolve => (asked = resolve));
  const { client, server } = await startHouse(
    async stream => {
      await stream.runRequest();
      if (stream.index > 0) return stream.finish('second');
      stream.checkpoint();
      asked(stream.ask(write));
      await stream.gone();
    },
    { executors: [tool.executor], clock },
  );
  const run = client.run({ prompt: 'Go.' });
  const retries: unknown[] = [];
  const reading = (async () => {
    for await (const event of run) if (event.type === 'retry') retries.push(event.reason);
  })();
  const id = await exec;
  const [stream] = server.streams as [FakeStream];
  await stream.until('the tool', () => tool.runs() === 1);
  for (let beats = 1; beats * limits.execHeartbeat <= 130_000; beats++) {
    clock.pass(limits.execHeartbeat);
    await stream.until(`exec heartbeat ${beats}`, () => stream.heard(id).control.length >= beats);
  }
  expect(retries).toEqual([]);
  tool.finish();
  await stream.settled(id);
  clock.pass(limits.silence - 2_000);
  await settle();
  expect(retries).toEqual([]);
  clock.pass(2_000);
  await stream.gone();
  expect(retries).toEqual([expect.stringContaining('no frame came from the server for 30 s')]);
  clock.pass(limits.retryLongest);
  await reading;
  expect(tool.runs()).toBe(1);
});

it('S04: a server that leaves the stream open after turn_ended keeps the user for five seconds and no longer', async () => {
  const clock = new ManualClock();
  const { client } = await startHouse(
    async stream => {
      await stream.runRequest();
      stream.turnEnded({ inputTokens: 1n });
      await stream.gone();
    },
    { clock },
  );
  const run = client.run({ prompt: 'Go.' });
  let over = false;
  void run.done.then(() => (over = true));
  for await (const event of run) {
    if (event.type !== 'usage') continue;
    clock.pass(4_999);
    await settle();
    expect(over).toBe(false);
    clock.pass(1);
  }
  expect((await run.done).outcome).toBe('ended');
});

it('S06: an error in the end frame is a failure also after turn_ended, and the turn is not run again', async () => {
  const { client, server } = await startHouse(async stream => {
    await stream.runRequest();
    stream.text('all said');
    stream.checkpoint();
    stream.turnEnded();
    stream.end(fault('provider_unavailable', 'the bill was not paid', { retryable: true }));
  });
  expect(await client.run({ prompt: 'Go.' }).done).toMatchObject({
    outcome: 'failed',
    text: 'all said',
    error: { message: expect.stringContaining('the bill was not paid') },
  });
  expect(server.streams).toHaveLength(1);
});

it('S07: words about an abort make no cancel, and a cancel is one whatever its words', async () => {
  const { client, server } = await startHouse(async stream => {
    await stream.runRequest();
    if (stream.index === 0)
      return stream.end(fault('provider_refused_request', 'request aborted: cancelled by upstream'));
    stream.end(fault('canceled', 'nothing of the kind'));
  });
  expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('failed');
  expect(server.streams).toHaveLength(1);
  expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('cancelled');
});

it('S12: a catalogue that is never answered is an error after ten seconds', async () => {
  const clock = new ManualClock();
  let asked: () => void = () => undefined;
  const request = new Promise<void>(resolve => (asked = resolve));
  const { client } = await startHouse(
    () => undefined,
    { clock },
    () => (asked(), true),
  );
  let error: unknown;
  const models = client.models().catch((thrown: unknown) => (error = thrown));
  await request;
  clock.pass(9_999);
  await settle();
  expect(error).toBeUndefined();
  clock.pass(1);
  await models;
  expect(error).toMatchObject({ error: { code: 'unavailable', message: expect.stringContaining('within 10 s') } });
});

it('S12: an append that is never acknowledged breaks its attempt, and blobs and context in between forbid no retry', async () => {
  const clock = new ManualClock();
  let hung = false;
  const context: AnyExecutor = { kind: 'requestContextArgs', run: () => Promise.reject(new Error('none here')) };
  const { client, server } = await startHouse(
    async stream => {
      if (stream.index === 0) {
        stream.send({ case: 'kvServerMessage', value: { id: 1, message: { case: 'getBlobArgs', value: {} } } });
        stream.ask({ case: 'requestContextArgs', value: {} });
        return await stream.gone();
      }
      await stream.runRequest();
      stream.finish();
    },
    { clock, executors: [context] },
    request => {
      // The first append of all: accepted, and then nothing.
      const hangs = !hung && request.url?.endsWith('/BidiAppend') === true;
      hung ||= hangs;
      return hangs;
    },
  );
  const run = client.run({ prompt: 'Go.', images: [{ mimeType: 'image/png', data: Uint8Array.of(1) }] });
  const reasons: string[] = [];
  const reading = (async () => {
    for await (const event of run) {
      if (event.type !== 'retry') continue;
      reasons.push(event.reason);
      await settle();
      clock.pass(event.delayMs);
    }
  })();
  while (server.streams.length === 0) await settle();
  // Signs of life of the server, so that it is not silence that ends the attempt.
  for (let passed = 0; passed < 70_000 && reasons.length === 0; passed += 5_000) {
    server.streams[0]!.update({ case: 'heartbeat', value: {} });
    await settle();
    clock.pass(5_000);
    await settle();
  }
  await reading;
  expect(reasons).toEqual([expect.stringContaining('did not acknowledge message 0')]);
  expect((await run.done).outcome).toBe('ended');
});

it('S17: the same exec twice runs its tool once and gives two equal answers; its id with another question is refused', async () => {
  let runs = 0;
  const read: AnyExecutor = {
    kind: 'readArgs',
    run: ({ path }) => {
      runs++;
      const value = create(ReadResultSchema, { result: { case: 'fileNotFound', value: { path } } });
      return Promise.resolve({ case: 'readResult', value });
    },
  };
  const { client } = await startHouse(
    async stream => {
      await stream.runRequest();
      const ask = (path: string) => stream.ask({ case: 'readArgs', value: { path, toolCallId: 'call-1' } }, 3);
      ask('a');
      ask('a');
      const twice = await stream.until('two answers', () => {
        const { answers } = stream.heard(3);
        return answers.length === 2 && answers;
      });
      expect(twice[1]).toEqual(twice[0]);
      ask('b');
      await stream.until('a throw', () => stream.heard(3).control.some(one => one.case === 'throw'));
      stream.finish();
    },
    { executors: [read] },
  );
  expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('ended');
  expect(runs).toBe(1);
});

it('S19: an error reaches the reader as the last event, with its words, and nothing stays open', async () => {
  const { client } = await startHouse(async stream => {
    await stream.runRequest();
    stream.update({
      case: 'toolCallStarted',
      value: { callId: 'call-1', toolCall: { tool: { case: 'readToolCall', value: {} } } },
    });
    stream.end(fault('provider_refused_request', 'The provider said 500: out of order.'));
  });
  const { events } = await collectRun(client.run({ prompt: 'Go.' }));
  expect(events.slice(-2)).toMatchObject([
    { type: 'tool', id: 'call-1', status: 'failed' },
    { type: 'end', outcome: 'failed', error: { message: expect.stringContaining('out of order') } },
  ]);
});

it('F8: an attempt on which only heartbeats come is alive for as long as they do', async () => {
  const clock = new ManualClock();
  const { client, server } = await startHouse(
    async stream => {
      await stream.runRequest();
      await stream.until('ten minutes', all => all.filter(one => one.case === 'clientHeartbeat').length >= 120);
      stream.finish('at last');
    },
    { clock },
  );
  const run = client.run({ prompt: 'Go.' });
  while (server.streams[0] === undefined) await settle();
  const [stream] = server.streams as [FakeStream];
  await stream.opened;
  for (let beats = 1; beats <= 120; beats++) {
    stream.update({ case: 'heartbeat', value: {} });
    clock.pass(limits.clientHeartbeat);
    await stream.until(`heartbeat ${beats}`, all => all.filter(one => one.case === 'clientHeartbeat').length >= beats);
  }
  expect((await run.done).text).toBe('at last');
  expect(server.streams).toHaveLength(1);
});

it('F89: an error that is not retryable is final, though its code is one of those that pass', async () => {
  const { client, server } = await startHouse(async stream => {
    await stream.runRequest();
    stream.end(fault('provider_unavailable', 'for good'));
  });
  expect((await client.run({ prompt: 'Go.' }).done).error).toMatchObject({ code: 'unavailable', retryable: false });
  expect(server.streams).toHaveLength(1);
});

it('F89: an error that says it is retryable is not, once a tool changed something that no checkpoint knows', async () => {
  const changed: AnyExecutor = {
    kind: 'writeArgs',
    run: () =>
      Promise.resolve({
        case: 'writeResult',
        value: { $typeName: 'agent.v1.WriteResult', result: { case: undefined } },
      }),
  };
  const { client, server } = await startHouse(
    async stream => {
      await stream.runRequest();
      await stream.settled(stream.ask(write));
      stream.end(fault('provider_unavailable', 'overloaded', { retryable: true }));
    },
    { executors: [changed] },
  );
  expect((await client.run({ prompt: 'Go.' }).done).error?.message).toContain(
    'changed something after the last checkpoint',
  );
  expect(server.streams).toHaveLength(1);
});

it('F91: text that a new attempt says again is not doubled', async () => {
  const { client } = await startHouse(async stream => {
    await stream.runRequest();
    if (stream.index === 0) {
      stream.text('The answer is ');
      return stream.cut();
    }
    stream.finish('The answer is 42.');
  });
  const { events, end } = await collectRun(client.run({ prompt: 'Go.' }));
  expect(end.text).toBe('The answer is 42.');
  // The reader is told between the two that what it has is taken back.
  expect(events.map(event => event.type).filter(type => type === 'text' || type === 'retry')).toEqual([
    'text',
    'retry',
    'text',
  ]);
});

it('F16: an HTTP 200 is no success without its end frame, nor is a page of JSON or an end that carries an error', async () => {
  const answers: [string, (stream: FakeStream) => void][] = [
    ['cut', stream => stream.cut()],
    ['end without turn_ended', stream => stream.end()],
    ['error in the end', stream => stream.end(fault('provider_refused_request', 'ERROR'))],
  ];
  for (const [name, answer] of answers) {
    const { client } = await startHouse(async stream => {
      await stream.runRequest();
      stream.text('ok');
      answer(stream);
    });
    const run = client.run({ prompt: 'Go.' });
    for await (const event of run) {
      if (event.type === 'retry') run.cancel();
    }
    expect([name, (await run.done).outcome]).not.toEqual([name, 'ended']);
  }
  const { client } = await startHouse(
    () => undefined,
    {},
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ERROR"}');
      return true;
    },
  );
  expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('failed');
});
