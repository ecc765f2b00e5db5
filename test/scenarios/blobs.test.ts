import { create, toBinary } from '@bufbuild/protobuf';
import { blobKey, collectBlobIds } from '@tandem/protocol';
import {
  ConversationStateStructureSchema,
  RequestContextMcpsPartSchema,
  RequestContextRulesPartSchema,
  RequestContextSkillsPartSchema,
  RequestContextSubagentsPartSchema,
} from '@tandem/protocol/agent';
import type { KvServerMessage } from '@tandem/protocol/agent';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reachableBlobs, rootMessages } from '../support/graph.ts';
import { startHouse, textsOf } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { AskedBlob, Peer } from '../support/peer.ts';
import { fetchWhole, transports } from '../support/wire.ts';

const READ = { name: 'Read', args: { path: 'a.txt' } };
const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest();
/** The ids of one kind of kv question, in the order asked. */
const askedIds = (peer: Peer, key: 'kv.setBlobArgs' | 'kv.getBlobArgs') =>
  peer.all(key).map(({ message }) => blobKey((message!.message.value as KvServerMessage).message.value!.blobId));
/** Two turns with a tool, from which everything below can go on. */
async function twoTurns(house: House): Promise<Peer> {
  house.say({ text: 'I look.', calls: [READ] }, { text: 'It says hi.' });
  const first = await house.peer().turn('what does it say?');
  house.say({ text: 'You are welcome.' });
  const second = await first.next().turn('thanks', { conversationState: first.state });
  expect([first.fault, second.fault]).toEqual([undefined, undefined]);
  return second;
}

/** A server with a store of its own, which has never seen what others cached. */
async function withFreshHouse(work: (house: House) => Promise<void>): Promise<void> {
  const house = await startHouse();
  try {
    await work(house);
  } finally {
    await house.close();
  }
}

describe.each(transports)('the barrier before a checkpoint over %s', transport => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport });
  });
  afterAll(() => house.close());

  it('[R42-acks-before-checkpoint] publishes a checkpoint only once every blob that it newly refers to was acknowledged', async () => {
    house.say({ calls: [READ] }, { text: 'done' });
    const held: AskedBlob[] = [];
    let isHolding = true;
    const peer = house.peer({ onBlob: blob => (isHolding ? void held.push(blob) : blob.auto()) });
    await peer.open();
    await peer.run('read it');
    const before = await peer.until(() => (held.length >= 3 ? held : undefined), 'blobs');
    // all but one: the checkpoint has to wait for the last
    const last = before.at(-1)!;
    isHolding = false;
    for (const blob of before) if (blob !== last) await blob.auto();
    await fetchWhole({ url: house.server.url, path: '/healthz', method: 'GET' });
    expect(peer.checkpoints).toEqual([]);
    expect(house.requests).toEqual([]);
    await last.auto();
    await peer.finish();
    expect(peer.fault).toBeUndefined();

    const known = new Set<string>();
    for (const { index, state } of peer.checkpoints) {
      for (const id of collectBlobIds(ConversationStateStructureSchema, state)) {
        if (known.has(blobKey(id))) continue;
        known.add(blobKey(id));
        expect(peer.acknowledged.get(blobKey(id)), `${blobKey(id)} was published unacknowledged`).toBeLessThanOrEqual(
          index,
        );
      }
    }
    expect(known.size).toBeGreaterThan(4);
    expect(peer.faults).toEqual([]);
  });

  it('[R42-failed-set-ends-run] F59: a run ends when the client refuses a blob, and leaves the last checkpoint whole', async () => {
    house.say({ calls: [READ] }, { text: 'never said' });
    let refused: string | undefined;
    const peer = house.peer({
      onBlob: blob => {
        // the first blob of the settled step: the first checkpoint stands, a later one cannot
        if (refused !== undefined || peer.execs.every(({ message }) => message.case !== 'readArgs')) return blob.auto();
        refused = blobKey(blob.blobId);
        const { id } = blob;
        return blob.reply({
          case: 'kvClientMessage',
          value: { id, message: { case: 'setBlobResult', value: { error: { message: 'disk full' } } } },
        });
      },
    });
    await peer.turn('read it');
    expect(peer.fault).toMatchObject({ code: 'failed_precondition', retryable: false });
    expect(peer.fault!.detail).toContain('disk full');
    expect(peer.fault!.detail).toContain(refused!.slice(0, 16));
    expect(peer.order).not.toContain('update.turnEnded');
    for (const { state } of peer.checkpoints) {
      const { ids, missing } = reachableBlobs(state, peer.blobs);
      expect(missing).toEqual([]);
      expect(ids).not.toContain(refused);
    }
    expect(peer.checkpoints.length).toBeGreaterThanOrEqual(1);
    expect(house.requests).toHaveLength(1);
  });
});

describe('blobs', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  it('[R39-id-is-sha256] go out under the 32 raw bytes of the SHA-256 of their data', async () => {
    const peer = await twoTurns(house);
    const sets = peer.frames.flatMap(({ message }) =>
      message?.message.case === 'kvServerMessage' && message.message.value.message.case === 'setBlobArgs'
        ? [message.message.value.message.value]
        : [],
    );
    expect(sets.length).toBeGreaterThan(2);
    for (const { blobId, blobData } of sets) expect(Buffer.from(blobId)).toEqual(sha256(blobData));
  });

  it('[R42-only-new-blobs] travel once: none in a later turn that the client already has, from a fresh server neither', async () => {
    const plan = { name: 'TodoWrite', args: { merge: false, todos: [{ id: 'a', content: 'greet' }] } };
    house.say({ calls: [READ, plan] }, { text: 'It says hi.' });
    let peer = await house.peer().turn('what does it say?');
    const sent = askedIds(peer, 'kv.setBlobArgs');
    house.say({ text: 'Once more.', calls: [READ] }, { text: 'Still hi.' });
    peer = await peer.next().turn('and now?', { conversationState: peer.state });
    sent.push(...askedIds(peer, 'kv.setBlobArgs'));
    await withFreshHouse(async stranger => {
      stranger.say({ text: 'Bye.' });
      peer = await peer.next({ url: stranger.server.url }).turn('bye', { conversationState: peer.state });
      sent.push(...askedIds(peer, 'kv.setBlobArgs'));
    });
    expect(peer.fault).toBeUndefined();
    expect(new Set(sent).size).toBe(sent.length);
    // the message, its display form, the answer, its step and two states of the turn, and nothing of the past
    expect(askedIds(peer, 'kv.setBlobArgs').length).toBeLessThanOrEqual(6);
    expect(reachableBlobs(peer.state, peer.blobs).missing).toEqual([]);
  });

  it('[R39-inline-tried] reads an entry that is no id, or that nobody has, as the message itself, and makes a blob of it', async () => {
    const system = JSON.stringify({ role: 'system', content: 'You are inline.' });
    const asLongAsAnId = JSON.stringify({ role: 'user', content: 'abcd' });
    expect(asLongAsAnId).toHaveLength(32);
    house.say({ text: 'ok' });
    const roots = [system, asLongAsAnId].map(text => Buffer.from(text));
    const peer = await house.peer().turn('go on', { conversationState: { rootPromptMessagesJson: roots } });
    expect(peer.fault).toBeUndefined();
    const [request] = house.requests;
    expect(request!.body.messages[0]).toEqual({ role: 'system', content: 'You are inline.' });
    expect(request!.body.messages[1]).toEqual({ role: 'user', content: 'abcd' });
    expect(peer.state.rootPromptMessagesJson.slice(0, 2).map(id => Buffer.from(id))).toEqual([
      sha256(system),
      sha256(asLongAsAnId),
    ]);
    expect(reachableBlobs(peer.state, peer.blobs).missing).toEqual([]);
  });

  it('[R41-hash-verified] are attributed by the number alone, and data of another hash is not used', async () => {
    const before = await twoTurns(house);
    await withFreshHouse(async stranger => {
      stranger.say({ text: 'all there' });
      const gets: AskedBlob[] = [];
      const backwards = before.next({
        url: stranger.server.url,
        onBlob: blob => (blob.kind === 'setBlobArgs' ? blob.auto() : void gets.push(blob)),
      });
      await backwards.open();
      await backwards.run('again', { conversationState: before.state });
      const { length } = before.state.rootPromptMessagesJson;
      const asked = await backwards.until(() => (gets.length >= length ? gets : undefined), 'questions for blobs');
      for (const blob of [...asked].reverse()) await blob.auto();
      await backwards.finish();
      expect(backwards.fault).toBeUndefined();
      expect(textsOf(stranger.requests[0]!.body, 'user').slice(-2)).toEqual(['thanks', 'again']);
    });

    await withFreshHouse(async stranger => {
      const [wrong] = before.state.rootPromptMessagesJson.slice(-1);
      const liar = before.next({
        url: stranger.server.url,
        onBlob: blob => {
          if (blob.kind === 'setBlobArgs' || blobKey(blob.blobId) !== blobKey(wrong!)) return blob.auto();
          const blobData = Buffer.from(JSON.stringify({ role: 'assistant', content: 'I never said that.' }));
          return blob.reply({
            case: 'kvClientMessage',
            value: { id: blob.id, message: { case: 'getBlobResult', value: { blobData } } },
          });
        },
      });
      await liar.turn('again', { conversationState: before.state });
      expect(liar.fault).toMatchObject({ retryable: false });
      expect(liar.fault!.detail).toContain(blobKey(wrong!));
      expect(stranger.requests).toEqual([]);
    });
  });

  it('[R41-empty-is-missing] takes an empty result as not found, except for the hash of nothing', async () => {
    const before = await twoTurns(house);
    const gone = before.state.rootPromptMessagesJson[1]!;
    await withFreshHouse(async other => {
      const blobs = new Map(before.blobs);
      blobs.delete(blobKey(gone));
      const poorer = await before
        .next({ url: other.server.url, blobs })
        .turn('again', { conversationState: before.state });
      expect(poorer.fault).toMatchObject({ retryable: false });
      expect(poorer.fault!.detail).toContain(blobKey(gone));
      expect(poorer.fault!.detail).toContain('root_prompt_messages_json[1]');
      expect(other.requests).toEqual([]);

      other.say({ text: 'nothing said, nothing done' });
      const empty = await other.peer().turn('', {}, { textBlobId: sha256('') });
      expect(empty.fault).toBeUndefined();
      expect(askedIds(empty, 'kv.getBlobArgs')).toEqual([sha256('').toString('hex')]);
    });
  });

  it('[R43-context-asked] asks for the request context before the first model call when none came, and only then', async () => {
    house.say({ text: 'ok' });
    const without = house.peer({
      on: {
        requestContextArgs: exec => {
          expect(house.requests).toEqual([]);
          return exec.auto();
        },
      },
    });
    await without.turn('hello');
    expect(without.all('exec.requestContextArgs')).toHaveLength(1);
    expect(textsOf(house.requests[0]!.body, 'user').join()).toContain('/home/dev/project');

    house.say({ text: 'ok' });
    const requestContext = { env: { workspacePaths: ['/brought/along'] } };
    const action = { action: { case: 'userMessageAction', value: { userMessage: { text: 'hello' }, requestContext } } };
    const brought = await house.peer().turn('', { action });
    expect(brought.execs).toEqual([]);
    expect(textsOf(house.requests[0]!.body, 'user').join()).toContain('/brought/along');
  });

  it('[R43-prefetched-first] asks the client neither for what it sent along nor for what the server has cached', async () => {
    const before = await twoTurns(house);
    // the server made all of it itself
    expect(askedIds(before, 'kv.getBlobArgs')).toEqual([]);

    await withFreshHouse(async other => {
      const [first, ...rest] = before.state.rootPromptMessagesJson;
      const preFetchedBlobs = rest.map(id => ({ id, value: before.blobs.get(blobKey(id))! }));
      other.say({ text: 'ok' }, { text: 'ok' }, { text: 'ok' });
      // one of them is not what its id says, and is asked for all the same (R41)
      preFetchedBlobs[0] = { id: rest[0]!, value: Buffer.from('{"role":"user","content":"forged"}') };
      const warm = await before
        .next({ url: other.server.url })
        .turn('again', { conversationState: before.state, preFetchedBlobs });
      expect(warm.fault).toBeUndefined();
      expect(askedIds(warm, 'kv.getBlobArgs').sort()).toEqual([blobKey(first!), blobKey(rest[0]!)].sort());
      expect(JSON.stringify(other.requests[0]!.body)).not.toContain('forged');

      // what had to be asked once is cached from then on
      const again = await warm
        .next()
        .turn('and again', { conversationState: before.state, preFetchedBlobs: preFetchedBlobs.slice(1) });
      expect(again.fault).toBeUndefined();
      expect(askedIds(again, 'kv.getBlobArgs')).toEqual([]);
    });
  });

  it('[R44-parts-fetched] F47: completes a context that comes as references from its four blobs and what is inline', async () => {
    const parts = {
      rules: toBinary(
        RequestContextRulesPartSchema,
        create(RequestContextRulesPartSchema, {
          rules: [{ fullPath: '/r.md', content: 'Always whistle.', type: { type: { case: 'global', value: {} } } }],
        }),
      ),
      skills: toBinary(
        RequestContextSkillsPartSchema,
        create(RequestContextSkillsPartSchema, {
          agentSkills: [{ fullPath: '/skills/juggle.md', description: 'How to juggle' }],
        }),
      ),
      subagents: toBinary(
        RequestContextSubagentsPartSchema,
        create(RequestContextSubagentsPartSchema, { customSubagents: [{ name: 'clown' }] }),
      ),
      mcps: toBinary(
        RequestContextMcpsPartSchema,
        create(RequestContextMcpsPartSchema, {
          tools: [{ name: 'circus-honk', toolName: 'honk', providerIdentifier: 'circus', description: 'Honks' }],
          mcpInstructions: [{ serverName: 'circus', instructions: 'Honk softly.' }],
        }),
      ),
    };
    const blobs = new Map(Object.values(parts).map(data => [sha256(data).toString('hex'), data]));
    const requestContextParts = Object.fromEntries([
      ...Object.entries(parts).flatMap(([name, data]) => [
        [`${name}BlobId`, sha256(data)],
        [`${name}ByteLength`, data.length],
      ]),
      ['dynamicContext', { env: { workspacePaths: ['/the/ring'] } }],
    ]);
    house.say({ text: 'ok' });
    const action = {
      action: { case: 'userMessageAction', value: { userMessage: { text: 'hello' } } },
      requestContextParts,
    };
    const peer = await house.peer({ blobs }).turn('', { action });
    expect(peer.fault).toBeUndefined();
    expect(askedIds(peer, 'kv.getBlobArgs').sort()).toEqual(
      Object.values(parts)
        .map(data => sha256(data).toString('hex'))
        .sort(),
    );
    expect(peer.execs).toEqual([]);
    const { body } = house.requests[0]!;
    const note = textsOf(body, 'user').join('\n');
    for (const words of ['/the/ring', 'Always whistle.', '/skills/juggle.md: How to juggle', 'Honk softly.'])
      expect(note).toContain(words);
    expect(JSON.stringify(body.tools)).toContain('honk');
  });

  it('leaves out a part that cannot be had, and goes on', async () => {
    house.say({ text: 'ok' });
    const requestContextParts = {
      rulesBlobId: sha256('gone'),
      rulesByteLength: 4,
      dynamicContext: { env: { workspacePaths: ['/still/here'] } },
    };
    const action = {
      action: { case: 'userMessageAction', value: { userMessage: { text: 'hello' } } },
      requestContextParts,
    };
    const peer = await house.peer().turn('', { action });
    expect(peer.fault).toBeUndefined();
    expect(textsOf(house.requests[0]!.body, 'user').join()).toContain('/still/here');
    expect(house.server.log.filter(({ text }) => text.includes('part of the request context'))).toHaveLength(1);
    expect(rootMessages(peer.state, peer.blobs)[0]!.role).toBe('system');
  });
});
