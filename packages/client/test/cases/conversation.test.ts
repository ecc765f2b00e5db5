import type { ConversationStateStructure } from '@tandem/protocol/agent';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { hashBlob, memoryBlobStore } from '../../src/blob-store.ts';
import { AgentClient } from '../../src/client.ts';
import { openStore } from '../../src/node/store.ts';
import { FakeServer } from '../fake-server.ts';
import type { FakeStream } from '../fake-server.ts';
import { startHouse } from '../run-house.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

let nextKv = 1;
async function setBlob(stream: FakeStream, data: Uint8Array): Promise<{ blobId: Uint8Array; refused?: string }> {
  const [id, blobId] = [nextKv++, await hashBlob(data)];
  stream.send({
    case: 'kvServerMessage',
    value: { id, message: { case: 'setBlobArgs', value: { blobId, blobData: data } } },
  });
  const error = await stream.until('an acknowledgement', all => {
    const found = all.find(one => one.case === 'kvClientMessage' && one.value.id === id);
    if (found?.case !== 'kvClientMessage' || found.value.message.case !== 'setBlobResult') return undefined;
    return [found.value.message.value.error?.message];
  });
  return error[0] === undefined ? { blobId } : { blobId, refused: error[0] };
}
async function getBlob(stream: FakeStream, blobId: Uint8Array): Promise<Uint8Array | undefined> {
  const id = nextKv++;
  stream.send({ case: 'kvServerMessage', value: { id, message: { case: 'getBlobArgs', value: { blobId } } } });
  const [data] = await stream.until('a blob', all => {
    const found = all.find(one => one.case === 'kvClientMessage' && one.value.id === id);
    if (found?.case !== 'kvClientMessage' || found.value.message.case !== 'getBlobResult') return undefined;
    return [found.value.message.value.blobData];
  });
  return data;
}

it('K02: memory that is full refuses a new blob, and loses none that the checkpoint names', async () => {
  const kept = Buffer.from('a turn');
  const { client } = await startHouse(
    async stream => {
      await stream.runRequest();
      const { blobId } = await setBlob(stream, kept);
      stream.checkpoint({ turns: [blobId] });
      let refused: string | undefined;
      for (let count = 0; count < 20 && refused === undefined; count++)
        ({ refused } = await setBlob(stream, Buffer.alloc(1_000, count)));
      expect(refused).toMatch(/memory/);
      expect(Buffer.from((await getBlob(stream, blobId))!)).toEqual(kept);
      stream.finish();
    },
    { blobs: memoryBlobStore(10_000) },
  );
  expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('ended');
});

it('K02: a collection on disk takes what no checkpoint names, and the next process has the rest', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-'));
  folders.push(folder);
  const ids: Uint8Array[] = [];
  const server = await FakeServer.start(async stream => {
    await stream.runRequest();
    if (stream.index === 0) {
      for (const words of ['named', 'orphan']) ids.push((await setBlob(stream, Buffer.from(words))).blobId);
      stream.checkpoint({ turns: [ids[0]!] });
    } else {
      expect(Buffer.from((await getBlob(stream, ids[0]!))!).toString()).toBe('named');
      expect(await getBlob(stream, ids[1]!)).toBeUndefined();
    }
    stream.turnEnded();
    stream.end();
  });
  for (const collects of [true, false]) {
    const store = openStore(folder);
    const client = new AgentClient({ baseUrl: server.url, executors: [], blobs: store.blobs });
    const before = (await store.get('one'))?.state;
    const save = (state: ConversationStateStructure) => store.save('one', { cwd: folder, state });
    const conversation = client.conversation('one', { save, ...(before === undefined ? {} : { state: before }) });
    expect((await conversation.send('Go.').done).outcome).toBe('ended');
    await conversation.saved();
    if (collects) expect(await store.collect(-1)).toMatchObject({ blobs: 1 });
    store.close();
  }
  await server.close();
});

it('K04: the second turn brings the conversation id and the last checkpoint of the first, also in a new process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-'));
  folders.push(folder);
  const seen: unknown[] = [];
  const server = await FakeServer.start(async stream => {
    const request = await stream.runRequest();
    seen.push([request.conversationId, request.conversationState?.readPaths]);
    stream.checkpoint({ readPaths: [`/turn-${stream.index}`, '/early'] });
    stream.checkpoint({ readPaths: [`/turn-${stream.index}`] });
    stream.turnEnded();
    stream.end();
  });
  for (let turn = 0; turn < 3; turn++) {
    const store = openStore(folder);
    const client = new AgentClient({ baseUrl: server.url, executors: [], blobs: store.blobs });
    const before = (await store.last(folder))?.state;
    const save = (state: ConversationStateStructure) => store.save('one', { cwd: folder, state });
    const conversation = client.conversation('one', { save, ...(before === undefined ? {} : { state: before }) });
    await conversation.send('Go.').done;
    await conversation.saved();
    store.close();
  }
  expect(seen).toEqual([
    ['one', []],
    ['one', ['/turn-0']],
    ['one', ['/turn-1']],
  ]);
  await server.close();
});

it('M06: a client takes a base URL with a path, a key, and any model the server names', async () => {
  const seen: unknown[] = [];
  const { server } = await startHouse(
    async stream => {
      const { requestedModel } = await stream.runRequest();
      seen.push(stream.headers.authorization, requestedModel?.modelId);
      stream.finish();
    },
    {},
    (request, response) => {
      seen.push(request.url);
      if (request.url !== '/under/a/path/v1/models') return false;
      response.end('{"items":[{"id":"vendor/odd model:7b"}]}');
      return true;
    },
  );
  const client = new AgentClient({ baseUrl: `${server.url}/under/a/path/`, apiKey: 'key-2', executors: [] });
  const [model] = await client.models();
  expect((await client.run({ prompt: 'Go.', model: model!.id }).done).outcome).toBe('ended');
  expect(seen).toEqual(expect.arrayContaining(['Bearer key-2', 'vendor/odd model:7b']));
  const asked = seen.filter(one => typeof one === 'string' && one.startsWith('/'));
  expect(asked.every(path => String(path).startsWith('/under/a/path/'))).toBe(true);
});

it('F62: a follow-up given while the turn ends is told as undecided, and can be sent as the next turn', async () => {
  const prompts: (string | undefined)[] = [];
  const { client } = await startHouse(async stream => {
    const { action } = await stream.runRequest();
    if (action?.action.case === 'userMessageAction') prompts.push(action.action.value.userMessage?.text);
    stream.finish('done');
  });
  const conversation = client.conversation();
  const run = conversation.send('first');
  let outcome: Promise<{ outcome: string }> | undefined;
  for await (const event of run) if (event.type === 'checkpoint') outcome = conversation.inject('also this');
  expect(await outcome).toEqual({ outcome: 'unanswered' });
  await conversation.send('also this').done;
  expect(prompts).toEqual(['first', 'also this']);
});

it('F62: a follow-up that the server keeps for the next turn is told so', async () => {
  const { client } = await startHouse(async stream => {
    await stream.runRequest();
    const injectionId = await stream.until('an injection', all => {
      const found = all.find(
        one => one.case === 'conversationAction' && one.value.action.case === 'injectContextAction',
      );
      return found?.case === 'conversationAction' && found.value.action.case === 'injectContextAction'
        ? found.value.action.value.injectionId
        : undefined;
    });
    stream.update({
      case: 'contextInjectionState',
      value: { injectionId, state: { state: { case: 'queuedForNextTurn', value: {} } } },
    });
    stream.finish();
  });
  const run = client.run({ prompt: 'Go.' });
  expect(await run.inject('also this')).toEqual({ outcome: 'next-turn' });
  await run.done;
});
