import { create } from '@bufbuild/protobuf';
import { fault } from '@tandem/protocol';
import { AgentMode, ConversationStateStructureSchema } from '@tandem/protocol/agent';
import type { ConversationStateStructure } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { fastClock } from '../test/clocks.ts';
import type { FakeServer } from '../test/fake-server.ts';
import { FAST, collectRun, slowWrite, startHouse } from '../test/run-house.ts';
import { approveQuery } from './answer-query.ts';
import { hashBlob } from './blob-store.ts';
import { AgentClient } from './client.ts';
import type { AnyExecutor } from './executor.ts';

let server: FakeServer | undefined;
async function makeClient(...house: Parameters<typeof startHouse>): Promise<AgentClient> {
  const { client, server: started } = await startHouse(...house);
  server = started;
  return client;
}

describe('a run', () => {
  it('[R26-new-part-after-tool] ends after turn_ended and EndStream {}, with the text after the last tool call', async () => {
    const client = await makeClient(async stream => {
      await stream.runRequest();
      stream.text('before ');
      stream.update({
        case: 'toolCallStarted',
        value: { callId: 'call-1', toolCall: { tool: { case: 'readToolCall', value: {} } } },
      });
      stream.update({
        case: 'toolCallCompleted',
        value: { callId: 'call-1', toolCall: { tool: { case: 'readToolCall', value: {} } } },
      });
      stream.text('all ');
      stream.text('done');
      stream.turnEnded({ inputTokens: 12n });
      stream.end();
    });
    const { events, end } = await collectRun(client.run({ prompt: 'Go.' }));
    expect(end).toEqual({
      type: 'end',
      outcome: 'ended',
      text: 'all done',
      usage: { inputTokens: 12 },
      conversationId: end.conversationId,
    });
    expect(events.at(-1)).toBe(end);
    expect(events.filter(event => event.type === 'end')).toHaveLength(1);
    expect(events.map(event => event.type)).toEqual(['text', 'tool', 'tool', 'text', 'text', 'usage', 'end']);
  });

  it('names itself, its request and its key in the headers, and numbers its appends from 0', async () => {
    const client = await makeClient(async stream => {
      await stream.runRequest();
      for (let id = 1; id <= 5; id++) await stream.settled(stream.ask({ case: 'readArgs', value: { path: 'x' } }));
      stream.finish();
    });
    const run = client.run({ prompt: 'Go.' });
    await run.done;
    const [stream] = server!.streams;
    expect(stream!.headers).toMatchObject({
      authorization: 'Bearer key-1',
      'content-type': 'application/connect+proto',
      'connect-protocol-version': '1',
      'x-request-id': run.requestId,
      'x-original-request-id': run.requestId,
    });
    expect([...stream!.numbers].sort((a, b) => Number(a - b))).toEqual(
      stream!.numbers.map((_, index) => BigInt(index)),
    );
  });

  it('sends prompt, model, mode, images and the state it was given', async () => {
    const client = await makeClient(stream => stream.runRequest().then(() => stream.finish()));
    const state = create(ConversationStateStructureSchema, { readPaths: ['/old'] });
    await client.run({
      prompt: 'Look.',
      model: 'small',
      mode: 'plan',
      conversationId: 'conv-1',
      state,
      images: [{ mimeType: 'image/png', data: Uint8Array.of(1, 2) }],
    }).done;
    const request = await server!.streams[0]!.runRequest();
    expect(request.conversationId).toBe('conv-1');
    expect(request.requestedModel?.modelId).toBe('small');
    expect(request.conversationState?.readPaths).toEqual(['/old']);
    const message =
      request.action?.action.case === 'userMessageAction' ? request.action.action.value.userMessage : undefined;
    expect([message?.text, message?.mode]).toEqual(['Look.', AgentMode.PLAN]);
    expect(message?.selectedContext?.selectedImages[0]?.dataOrBlobId).toEqual({
      case: 'data',
      value: Uint8Array.of(1, 2),
    });
  });

  it('S04: ends by itself when the server leaves the stream open after turn_ended', async () => {
    const client = await makeClient(async stream => {
      await stream.runRequest();
      stream.text('all said');
      stream.turnEnded();
      await stream.gone();
    });
    const end = await client.run({ prompt: 'Go.' }).done;
    expect([end.outcome, end.text]).toEqual(['ended', 'all said']);
    expect(server!.streams).toHaveLength(1);
  });

  it('S06: ends, and runs nothing again, when the connection breaks after turn_ended', async () => {
    const client = await makeClient(async stream => {
      await stream.runRequest();
      stream.turnEnded();
      stream.cut();
    });
    expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('ended');
    expect(server!.streams).toHaveLength(1);
  });

  it('T21: fails, and rejects nothing, when it is given a state that is no message', async () => {
    const client = await makeClient(stream => stream.gone());
    const state = { $typeName: 'agent.v1.ConversationStateStructure' } as ConversationStateStructure;
    const end = await client.run({ prompt: 'Go.', state }).done;
    expect(end).toMatchObject({ outcome: 'failed', error: { code: 'internal', retryable: false } });
  });

  it("[§24-error-end-is-failure] fails at once, in the server's words, with an error that is not retryable", async () => {
    const client = await makeClient(async stream => {
      await stream.runRequest();
      stream.text('so far ');
      stream.end(fault('unknown_model', 'There is no model gtp-5; did you mean gpt-5?'));
    });
    const end = await client.run({ prompt: 'Go.' }).done;
    expect(end).toMatchObject({
      outcome: 'failed',
      text: 'so far ',
      error: { code: 'invalid_argument', message: 'There is no model gtp-5; did you mean gpt-5?', retryable: false },
    });
    expect(server!.streams).toHaveLength(1);
  });

  it('fails with the status and the words of a stream that is refused by HTTP', async () => {
    const client = await makeClient(
      () => undefined,
      {},
      (request, response) => {
        if (request.url?.endsWith('/RunSSE') !== true) return false;
        response
          .writeHead(401, { 'content-type': 'application/json' })
          .end('{"code":"unauthenticated","message":"bad token"}');
        return true;
      },
    );
    const end = await client.run({ prompt: 'Go.' }).done;
    expect(end).toMatchObject({ outcome: 'failed', error: { code: 'unauthenticated', retryable: false } });
    expect(end.error?.message).toContain('bad token');
  });

  it('says that a page is no agent server', async () => {
    const client = await makeClient(
      () => undefined,
      {},
      (request, response) => {
        if (request.url?.endsWith('/RunSSE') !== true) return false;
        response.writeHead(200, { 'content-type': 'text/html' }).end('<p>welcome</p>');
        return true;
      },
    );
    const end = await client.run({ prompt: 'Go.' }).done;
    expect(end.error?.message).toContain('text/html');
  });

  it('fails soon when nobody listens', async () => {
    const client = await makeClient(() => undefined);
    const dead = new AgentClient({ baseUrl: server!.url, executors: [], clock: fastClock(FAST) });
    await server!.close();
    const end = await dead.run({ prompt: 'Go.' }).done;
    expect(end).toMatchObject({ outcome: 'failed', error: { code: 'unavailable', retryable: true } });
    expect(end.error?.message).toMatch(/ECONNREFUSED/);
    expect(client).toBeDefined();
  });

  it('fails with what was wrong when an append is refused for good', async () => {
    const client = await makeClient(
      async stream => {
        await stream.opened;
        await stream.gone();
      },
      {},
      (request, response) => {
        if (request.url?.endsWith('/BidiAppend') !== true) return false;
        response
          .writeHead(400, { 'content-type': 'application/json' })
          .end('{"code":"invalid_argument","message":"no such branch"}');
        return true;
      },
    );
    const end = await client.run({ prompt: 'Go.' }).done;
    expect(end.error?.message).toContain('no such branch');
    expect(server!.streams).toHaveLength(1);
  });
});

describe('a run that takes its time', () => {
  it('[R17-client-heartbeats] tells the server every five seconds that the client is there', async () => {
    const times: number[] = [];
    const startedAt = Date.now();
    const client = await makeClient(async stream => {
      const beats = (all: typeof stream.messages) => all.filter(message => message.case === 'clientHeartbeat').length;
      for (let count = 1; count <= 4; count++) {
        await stream.until(`heartbeat ${count}`, all => beats(all) >= count);
        times.push(Date.now());
        stream.update({ case: 'heartbeat', value: {} });
      }
      stream.finish();
    });
    await client.run({ prompt: 'Go.' }).done;
    // A busy machine makes them late, never early.
    for (const [index, time] of times.entries()) {
      expect((time - startedAt) * FAST).toBeGreaterThan((index + 1) * 4_900);
    }
    expect(server!.streams).toHaveLength(1);
  });

  it('[S01-watchdog-pauses] does not take a long tool of its own for silence of the server', async () => {
    const write = slowWrite();
    const client = await makeClient(
      async stream => {
        await stream.runRequest();
        const id = stream.ask({ case: 'writeArgs', value: { path: 'a', toolCallId: 'call-1' } });
        // Ten heartbeats of an exec are as long as the silence that ends an attempt; twelve are longer.
        await stream.until('twelve exec heartbeats', () => stream.heard(id).control.length >= 12);
        write.finish();
        await stream.settled(id);
        stream.finish();
      },
      { executors: [write.executor] },
    );
    expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('ended');
    expect(server!.streams).toHaveLength(1);
  });

  it('answers blobs and questions beside each other, each under its own number', async () => {
    const data = new TextEncoder().encode('kept');
    const blobId = await hashBlob(data);
    const client = await makeClient(
      async stream => {
        await stream.runRequest();
        stream.send({
          case: 'kvServerMessage',
          value: { id: 1, message: { case: 'setBlobArgs', value: { blobId, blobData: data } } },
        });
        stream.send({ case: 'kvServerMessage', value: { id: 2, message: { case: 'getBlobArgs', value: { blobId } } } });
        stream.send({
          case: 'interactionQuery',
          value: { id: 1, query: { case: 'webSearchRequestQuery', value: { args: { searchTerm: 'x' } } } },
        });
        const got = await stream.until('the blob', all =>
          all.find(message => message.case === 'kvClientMessage' && message.value.id === 2),
        );
        expect(got).toMatchObject({ value: { message: { case: 'getBlobResult', value: { blobData: data } } } });
        const answer = await stream.until('the answer', all =>
          all.find(message => message.case === 'interactionResponse'),
        );
        expect(answer).toMatchObject({
          value: { id: 1, result: { case: 'webSearchRequestResponse', value: { result: { case: 'approved' } } } },
        });
        stream.finish();
      },
      { answerQuery: query => Promise.resolve(approveQuery(query)) },
    );
    const { events, end } = await collectRun(client.run({ prompt: 'Go.' }));
    expect(end.outcome).toBe('ended');
    expect(events.find(event => event.type === 'question')).toEqual({
      type: 'question',
      id: 1,
      kind: 'web_search',
      query: { args: { searchTerm: 'x' } },
    });
  });

  it('[X07-big-arguments] passes on 200 KB of arguments in fifty pieces, and all of them at the start of the call', async () => {
    const content = Array.from({ length: 50 }, (_, index) => `${index}:${'漢"\\n'.repeat(1_000)}`);
    const streamContent = content.join('');
    const client = await makeClient(async stream => {
      await stream.runRequest();
      const call = { callId: 'call-1', modelCallId: 'm-1' };
      for (const argsTextDelta of content) {
        stream.update({
          case: 'partialToolCall',
          value: { ...call, argsTextDelta, toolCall: { tool: { case: 'editToolCall', value: {} } } },
        });
      }
      const toolCall = { tool: { case: 'editToolCall' as const, value: { args: { path: 'a', streamContent } } } };
      stream.update({ case: 'toolCallStarted', value: { ...call, toolCall } });
      stream.finish();
    });
    const { events } = await collectRun(client.run({ prompt: 'Go.' }));
    const calls = events.filter(event => event.type === 'tool');
    expect(calls.map(call => call.argsTextDelta ?? '').join('')).toBe(streamContent);
    expect(calls.find(call => call.status === 'running')?.args).toEqual({ path: 'a', streamContent });
  });
});

describe('a broken attempt', () => {
  it('[§24-close-is-no-success] is followed by another with the same user message when no checkpoint came', async () => {
    const client = await makeClient(async stream => {
      await stream.runRequest();
      if (stream.index === 0) {
        stream.text('half ');
        return stream.cut();
      }
      stream.finish('whole');
    });
    const run = client.run({ prompt: 'Go.' });
    const { events, end } = await collectRun(run);
    expect([end.outcome, end.text]).toEqual(['ended', 'whole']);
    const [first, second] = server!.streams;
    const [a, b] = [await first!.runRequest(), await second!.runRequest()];
    expect(second!.requestId).not.toBe(first!.requestId);
    expect(second!.headers['x-original-request-id']).toBe(first!.requestId);
    expect([b.runId, b.conversationId, b.action]).toEqual([a.runId, a.conversationId, a.action]);
    expect(events.find(event => event.type === 'retry')).toMatchObject({ attempt: 2 });
  });

  it('[§23-checkpoint-replaces] resumes from the last checkpoint, and takes back only the text after it', async () => {
    const client = await makeClient(async stream => {
      const request = await stream.runRequest();
      if (stream.index === 0) {
        stream.text('kept ');
        stream.checkpoint({ readPaths: ['/zero'], pendingToolCalls: ['call-0'] });
        stream.checkpoint({ readPaths: ['/one'] });
        stream.text('lost');
        return stream.cut();
      }
      expect(request.action?.action.case).toBe('resumeAction');
      expect(request.conversationState).toMatchObject({ readPaths: ['/one'], pendingToolCalls: [] });
      stream.finish('new');
    });
    const end = await client.run({ prompt: 'Go.' }).done;
    expect([end.outcome, end.text]).toEqual(['ended', 'kept new']);
  });

  it('[§24-close-is-no-success] counts an end without turn_ended as broken', async () => {
    const client = await makeClient(async stream => {
      await stream.runRequest();
      if (stream.index === 0) return stream.end();
      stream.finish();
    });
    expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('ended');
    expect(server!.streams).toHaveLength(2);
  });

  it('[R17-silence-given-up] is given up after silence, and the next one goes on', async () => {
    const client = await makeClient(async stream => {
      await stream.runRequest();
      if (stream.index > 0) return stream.finish('back');
      stream.checkpoint();
      await stream.gone();
    });
    const { events, end } = await collectRun(client.run({ prompt: 'Go.' }));
    expect(end.text).toBe('back');
    expect(events.find(event => event.type === 'retry')).toMatchObject({ reason: expect.stringContaining('30 s') });
  });

  it('is not followed by another when a tool changed something after the last checkpoint', async () => {
    const executor: AnyExecutor = {
      kind: 'writeArgs',
      run: () =>
        Promise.resolve({
          case: 'writeResult',
          value: { $typeName: 'agent.v1.WriteResult', result: { case: undefined } },
        }),
    };
    const client = await makeClient(
      async stream => {
        await stream.runRequest();
        stream.checkpoint();
        await stream.settled(stream.ask({ case: 'writeArgs', value: { path: 'a', toolCallId: 'call-1' } }));
        stream.cut();
      },
      { executors: [executor] },
    );
    const end = await client.run({ prompt: 'Go.' }).done;
    expect(end).toMatchObject({ outcome: 'failed', error: { code: 'unavailable' } });
    expect(end.error?.message).toContain('changed something after the last checkpoint');
    expect(server!.streams).toHaveLength(1);
  });

  it('leaves a tool that is under way to the next attempt, which gets its result without a second run', async () => {
    const write = slowWrite();
    const question = { case: 'writeArgs' as const, value: { path: 'a', fileText: 'x', toolCallId: 'call-1' } };
    const client = await makeClient(
      async stream => {
        await stream.runRequest();
        if (stream.index === 0) {
          stream.checkpoint();
          stream.ask(question);
          await stream.until('nothing', () => write.runs() === 1);
          return stream.cut();
        }
        const id = stream.ask(question, 7);
        write.finish();
        expect((await stream.settled(id)).answers.map(answer => answer.case)).toEqual(['writeResult']);
        stream.finish();
      },
      { executors: [write.executor] },
    );
    expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('ended');
    expect(write.runs()).toBe(1);
  });
});

describe('a cancelled run', () => {
  it('[§24-error-end-is-failure] tells the server and takes its end', async () => {
    const client = await makeClient(async stream => {
      await stream.runRequest();
      stream.text('so far ');
      await stream.until('cancel_action', all =>
        all.some(message => message.case === 'conversationAction' && message.value.action.case === 'cancelAction'),
      );
      stream.end(fault('canceled', 'cancelled'));
    });
    const run = client.run({ prompt: 'Go.' });
    for await (const event of run) if (event.type === 'text') run.cancel('enough');
    expect(await run.done).toMatchObject({ outcome: 'cancelled', text: 'so far ' });
    expect((await run.done).error).toBeUndefined();
  });

  it('leaves after a second when the server does not answer', async () => {
    const client = await makeClient(stream => stream.gone());
    const controller = new AbortController();
    const run = client.run({ prompt: 'Go.', signal: controller.signal });
    await server!.streams[0]?.opened;
    controller.abort();
    expect((await run.done).outcome).toBe('cancelled');
  });

  it('stops waiting for a retry', async () => {
    const client = await makeClient(stream => stream.cut(), { clock: fastClock(1) });
    const run = client.run({ prompt: 'Go.' });
    for await (const event of run) if (event.type === 'retry') run.cancel();
    expect((await run.done).outcome).toBe('cancelled');
  });

  it('never begins when its signal is already aborted', async () => {
    const client = await makeClient(stream => stream.finish());
    expect((await client.run({ prompt: 'Go.', signal: AbortSignal.abort() }).done).outcome).toBe('cancelled');
    expect(server!.streams).toHaveLength(0);
  });

  it('aborts the tools that are under way', async () => {
    let aborted = false;
    const executor: AnyExecutor = {
      kind: 'deleteArgs',
      run: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(signal.reason as Error);
          });
        }),
    };
    const client = await makeClient(
      async stream => {
        await stream.runRequest();
        stream.ask({ case: 'deleteArgs', value: { path: 'a', toolCallId: 'call-1' } });
        stream.text('go');
        await stream.gone();
      },
      { executors: [executor] },
    );
    const run = client.run({ prompt: 'Go.' });
    for await (const event of run) if (event.type === 'text') run.cancel();
    expect(aborted).toBe(true);
  });
});
