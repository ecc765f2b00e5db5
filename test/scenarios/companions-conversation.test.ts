import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { PromptContextUsageSnapshotSchema } from '@tandem/protocol/agent';
import { blobKey } from '@tandem/protocol';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callCompanion, tryCompanion } from '../support/companion.ts';
import type { Form } from '../support/companion.ts';
import { reachableBlobs } from '../support/graph.ts';
import { startHouse, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { Peer } from '../support/peer.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import type { Transport } from '../support/wire.ts';

/** Each form and each transport; that every form works over every transport is shown where no turn has to be played. */
const ways: [Form, Transport][] = [
  ['proto', 'h1'],
  ['json', 'h2c'],
  ['grpc-web', 'h1'],
  ['proto', 'h2c'],
];
const idOf = (data: Uint8Array) => createHash('sha256').update(data).digest();
const SEAL = { 'x-blob-encryption-key': 'ab'.repeat(32) };

describe.each(ways)('UploadConversationBlobs as %s over %s', (form, transport) => {
  let house: House;
  /** A second server, which has never seen what the first one knows. */
  let fresh: TestServer;
  let first: Peer;
  beforeEach(async () => {
    house = await startHouse({ transport });
    fresh = await startTestServer({ provider: house.provider.baseUrl });
    house.say({ text: 'one' }, { text: 'two' }, { text: 'three' });
    first = await house.peer().turn('remember the marker-of-this-test');
  });
  afterEach(async () => {
    await fresh.close();
    await house.close();
  });
  const caller = (headers: Record<string, string> = {}) => ({ url: fresh.url, transport, form, headers });
  const entries = () => [...first.blobs].map(([key, value]) => ({ id: Buffer.from(key, 'hex'), value }));
  const goOn = (headers: Record<string, string> = {}) =>
    first.next({ url: fresh.url, headers }).turn('and now?', { conversationState: first.state });

  it('[F20-companions-answered, R43-uploaded-not-asked] keeps blobs, so that a run does not ask the client for them', async () => {
    const { conversationId } = first;
    const [one, ...others] = entries();
    await callCompanion(caller(), 'uploadConversationBlobs', {
      conversationId,
      blobs: [one!],
      chunkIndex: 0,
      totalChunks: 2,
    });
    await callCompanion(caller(), 'uploadConversationBlobs', {
      conversationId,
      blobs: others,
      chunkIndex: 1,
      totalChunks: 2,
    });
    const peer = await goOn();
    expect([peer.fault, peer.text, peer.all('kv.getBlobArgs')]).toEqual([undefined, 'two', []]);
    expect(JSON.stringify(house.requests.at(-1)!.body.messages)).toContain('marker-of-this-test');
  });

  it('has to be called for that: without it the run asks (R43)', async () => {
    const peer = await goOn();
    expect(peer.all('kv.getBlobArgs').length).toBeGreaterThan(0);
    expect(peer.text).toBe('two');
  });

  it('seals what came with a key of the client, and only that key opens it (R9)', async () => {
    await callCompanion(caller(SEAL), 'uploadConversationBlobs', {
      conversationId: first.conversationId,
      blobs: entries(),
    });
    const files = readdirSync(fresh.folder).filter(name => name.startsWith('tandem.db'));
    expect(files.map(name => readFileSync(join(fresh.folder, name)).includes('marker-of-this-test'))).toEqual(
      files.map(() => false),
    );
    expect((await goOn(SEAL)).all('kv.getBlobArgs')).toEqual([]);
    expect((await goOn()).all('kv.getBlobArgs').length).toBeGreaterThan(0);
  });

  it('[R43-uploaded-not-asked] names a blob that is not what its id says, and keeps none of that request (R41)', async () => {
    const good = entries();
    const wrong = { id: idOf(Buffer.from('something')), value: Buffer.from('something else') };
    const invalid = form === 'grpc-web' ? { status: 200, code: '3' } : { status: 400, code: 'invalid_argument' };
    const told = await tryCompanion(caller(), 'uploadConversationBlobs', {
      conversationId: first.conversationId,
      blobs: [...good, wrong],
    });
    expect(told).toEqual({
      ...invalid,
      text: expect.stringContaining(`blobs[${good.length}] is not what its id says: ${blobKey(wrong.id)}`),
    });
    const short = await tryCompanion(caller(), 'uploadConversationBlobs', {
      conversationId: 'c',
      blobs: [{ id: Buffer.alloc(5), value: Buffer.alloc(1) }],
    });
    expect(short).toEqual({ ...invalid, text: expect.stringContaining('blobs[0].id has 5 bytes') });
    expect((await goOn()).all('kv.getBlobArgs').length).toBeGreaterThan(0);
  });
});

describe.each(ways)('NotifyConversationClone as %s over %s', (form, transport) => {
  let house: House;
  beforeEach(async () => {
    house = await startHouse({ transport });
  });
  afterEach(() => house.close());
  const notify = (conversationId: string, sourceConversationId: string) =>
    callCompanion({ url: house.server.url, transport, form }, 'notifyConversationClone', {
      conversationId,
      sourceConversationId,
    });

  /** A turn that was cut while one of its two calls had a result, in the ledger alone. */
  async function cutTurn(): Promise<Peer> {
    house.say(
      {
        calls: [
          { name: 'Shell', args: { command: 'make' } },
          { name: 'Read', args: { path: 'a.txt' } },
        ],
      },
      { text: 'made it' },
    );
    const acknowledged = Promise.withResolvers<void>();
    const peer = house.peer({
      on: {
        readArgs: () => {},
        shellStreamArgs: async exec => {
          await exec.auto();
          acknowledged.resolve();
        },
      },
    });
    await peer.open();
    await peer.run('make it');
    await acknowledged.promise;
    await peer.wait('exec.readArgs');
    await peer.cancel();
    await peer.finish();
    expect(peer.state.pendingToolCalls).toHaveLength(1);
    return peer;
  }

  async function resumeAs(source: Peer, conversationId: string): Promise<Peer> {
    const copy = source.next({ conversationId });
    await copy.open();
    await copy.resume(source.state);
    return copy.finish();
  }

  it('[F20-companions-answered, R48-clone-keeps-results] hands results over to the copy, so that what ran does not run again', async () => {
    const source = await cutTurn();
    await notify('copy', source.conversationId);
    await notify('copy', source.conversationId); // a client that heard no answer says it again
    const copy = await resumeAs(source, 'copy');
    expect([copy.fault, copy.text]).toEqual([undefined, 'made it']);
    expect(source.workspace.done).toEqual(['shell make', 'read a.txt']);
    expect(toolTexts(house.requests.at(-1)!.body)).toEqual([
      expect.stringMatching(/^make$/m),
      expect.stringContaining('hi file'),
    ]);
  });

  it('has to be called for that: a conversation of another id knows no results', async () => {
    const source = await cutTurn();
    await resumeAs(source, 'copy');
    expect(source.workspace.done.filter(done => done === 'shell make')).toHaveLength(2);
  });

  it('takes a source that it never saw, and a conversation that is its own source', async () => {
    await notify('copy', 'never seen');
    await notify('copy', 'copy');
  });
});

describe.each(ways)('GetPromptContextUsage as %s over %s', (form, transport) => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport });
  });
  afterAll(() => house.close());
  const caller = (headers: Record<string, string> = {}) => ({ url: house.server.url, transport, form, headers });
  const REFUSED = form === 'grpc-web' ? { status: 200, code: '9' } : { status: 400, code: 'failed_precondition' };
  const supported = { clientSupportsPromptContextUsageRpc: true };
  const twoAnswers = () => house.say({ calls: [{ name: 'Read', args: { path: 'a.txt' } }] }, { text: 'read' });

  it('[R51-usage-snapshot] gives the snapshot that a checkpoint names: the tree of the checkpoint and the messages it was counted from', async () => {
    twoAnswers();
    const peer = await house.peer().turn('read a.txt', supported);
    expect(peer.checkpoints.length).toBeGreaterThan(2);
    for (const { state } of peer.checkpoints) {
      expect(reachableBlobs(state, peer.blobs).missing).toEqual([]);
      const { usedTokens, promptContextUsageTree: tree, promptContextUsageSnapshotBlobId: id } = state.tokenDetails!;
      const [root, ...categories] = tree!.nodes;
      expect([tree!.schemaVersion, root!.id, root!.parentId, root!.estimatedTokens]).toEqual([
        1,
        'window',
        undefined,
        usedTokens,
      ]);
      expect(categories.map(node => [node.id, node.parentId, node.categoryId])).toEqual(
        ['system', 'tools', 'context', 'conversation', 'results'].map(name => [name, 'window', name]),
      );
      expect(new Set(tree!.nodes.map(node => node.id)).size).toBe(tree!.nodes.length);
      expect(categories.reduce((sum, node) => sum + node.estimatedTokens, 0)).toBe(usedTokens);
      expect(categories.reduce((sum, node) => sum + node.characterCount, 0)).toBe(root!.characterCount);
      expect(
        fromBinary(PromptContextUsageSnapshotSchema, peer.blobs.get(blobKey(id!))!).promptContextUsageTree,
      ).toEqual(tree);
    }
    const { state } = peer;
    const { snapshot } = await callCompanion(caller(), 'getPromptContextUsage', {
      conversationId: peer.conversationId,
      snapshotBlobId: state.tokenDetails!.promptContextUsageSnapshotBlobId!,
    });
    expect(snapshot!.promptContextUsageTree).toEqual(state.tokenDetails!.promptContextUsageTree);
    expect(snapshot!.rootPromptMessagesJson.map(blobKey)).toEqual(state.rootPromptMessagesJson.map(blobKey));
  });

  it('is nothing that a client which cannot call it pays for', async () => {
    twoAnswers();
    const peer = await house.peer().turn('read a.txt');
    for (const { state } of peer.checkpoints) {
      expect(state.tokenDetails!.breakdown).toBeDefined();
      expect([
        state.tokenDetails!.promptContextUsageTree,
        state.tokenDetails!.promptContextUsageSnapshotBlobId,
      ]).toEqual([undefined, undefined]);
    }
  });

  it('says of a snapshot that it does not have, or cannot open, that it is missing', async () => {
    const unknown = await tryCompanion(caller(), 'getPromptContextUsage', { snapshotBlobId: Buffer.alloc(32, 7) });
    expect(unknown).toEqual({
      ...REFUSED,
      text: expect.stringContaining(`does not have the snapshot ${'07'.repeat(32)}`),
    });
    twoAnswers();
    const sealed = await house.peer({ headers: SEAL }).turn('a sealed turn', supported);
    const snapshotBlobId = sealed.state.tokenDetails!.promptContextUsageSnapshotBlobId!;
    expect(await tryCompanion(caller(), 'getPromptContextUsage', { snapshotBlobId })).toMatchObject(REFUSED);
    expect((await callCompanion(caller(SEAL), 'getPromptContextUsage', { snapshotBlobId })).snapshot).toBeDefined();
  });

  it('says of a blob of another kind what it is not', async () => {
    const value = Buffer.from('{"role":"user","content":"hello"}');
    const id = idOf(value);
    await callCompanion(caller(), 'uploadConversationBlobs', { conversationId: 'c', blobs: [{ id, value }] });
    const told = await tryCompanion(caller(), 'getPromptContextUsage', { snapshotBlobId: id });
    expect(told).toMatchObject({ text: expect.stringContaining('is no PromptContextUsageSnapshot') });
  });

  it('does not give out what belongs to another owner', async () => {
    const keys = ['anna', 'bert'].map(name => ({
      name,
      sha256: createHash('sha256').update(`key of ${name}`).digest('hex'),
    }));
    const server = await startTestServer({ provider: house.provider.baseUrl, config: { auth: { keys } } });
    const as = (name: string) => ({
      url: server.url,
      transport,
      form,
      headers: { authorization: `Bearer key of ${name}` },
    });
    const value = toBinary(
      PromptContextUsageSnapshotSchema,
      create(PromptContextUsageSnapshotSchema, { promptContextUsageTree: { schemaVersion: 1 } }),
    );
    const id = idOf(value);
    await callCompanion(as('anna'), 'uploadConversationBlobs', { conversationId: 'c', blobs: [{ id, value }] });
    expect(
      (await callCompanion(as('anna'), 'getPromptContextUsage', { snapshotBlobId: id })).snapshot
        ?.promptContextUsageTree?.schemaVersion,
    ).toBe(1);
    expect(await tryCompanion(as('bert'), 'getPromptContextUsage', { snapshotBlobId: id })).toMatchObject(REFUSED);
    await server.close();
  });
});
