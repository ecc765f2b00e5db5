import { createHash } from 'node:crypto';
import { blobKey } from '@tandem/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reachableBlobs, rootMessages } from '../support/graph.ts';
import { startHouse, textsOf, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { Peer } from '../support/peer.ts';
import { brokenPrefix } from '../support/sent-messages.ts';
import { startTestServer } from '../support/server.ts';
import { Workspace } from '../support/workspace.ts';

const THEN = { text: 'done' };
const READ = { name: 'Read', args: { path: 'a.txt' } };
const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest();
const jsonBlob = (value: unknown) => Buffer.from(JSON.stringify(value));
const SYSTEM = { role: 'system', content: 'Be brief.' };
const isFine = (peer: Peer) => expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);

/** Until the client has the checkpoint behind its last read. */
const untilSettled = (peer: Peer) =>
  peer.until(() => {
    const isSettled = peer.checkpoints.at(-1)?.state.pendingToolCalls.length === 0;
    return (peer.all('exec.readArgs').length > 0 && isSettled) || undefined;
  }, 'settled round');

describe('the history of a conversation', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  /** A turn on a history that another client or server wrote. */
  async function goOnFrom(history: readonly object[], text = 'go on'): Promise<Peer> {
    house.say(THEN);
    return house
      .peer()
      .turn(text, { conversationState: { rootPromptMessagesJson: [SYSTEM, ...history].map(jsonBlob) } });
  }
  const newest = () => house.requests.at(-1)!.body;

  it('X14: carries a turn alone: a client that leaves at every tool call comes to the answer, on servers that never saw it', async () => {
    const houses = [house, await startHouse(), await startHouse()];
    const workspace = new Workspace({ 'b.txt': 'text of b' });
    let peer = house.peer({ workspace });
    let state: Peer['state'] | undefined;
    for (const [round, path] of ['a.txt', 'b.txt'].entries()) {
      const here = houses[round]!;
      here.say({ calls: [{ name: 'Read', args: { path } }] }, { events: [{ hang: true }] });
      const asked = here.provider.untilRequests(here.provider.requests.length + 2);
      peer = round === 0 ? peer : peer.next({ url: here.server.url });
      await peer.open();
      if (state) await peer.resume(state);
      else await peer.run('read both');
      await asked;
      await untilSettled(peer);
      state = peer.state;
      peer.drop();
    }
    const last = houses[2]!;
    last.say({ text: 'both read' });
    peer = peer.next({ url: last.server.url });
    await peer.open();
    await peer.resume(state!);
    await peer.finish();
    expect([peer.fault, peer.text]).toEqual([undefined, 'both read']);
    expect(workspace.done).toEqual(['read a.txt', 'read b.txt']);
    expect(toolTexts(last.requests[0]!.body)).toEqual([expect.stringContaining('hi file'), '1|text of b']);
    await Promise.all(houses.slice(1).map(one => one.close()));
  });

  it('X14: an answer without anything is an error and no success', async () => {
    house.say({ finish: 'stop' }, { finish: 'stop' });
    const peer = await house.peer().turn('say something');
    expect(peer.fault).toMatchObject({ code: 'unavailable', title: 'Empty answer' });
    expect(peer.all('update.turnEnded')).toEqual([]);
  });

  it('K01: takes entries that are no ids as the messages themselves, asks for ids, and names an id in hexadecimal', async () => {
    const inline = jsonBlob({ role: 'user', content: 'I stand inline' });
    const stored = jsonBlob({ role: 'assistant', content: 'I am a blob' });
    const blobs = new Map([[sha256(stored).toString('hex'), Uint8Array.from(stored)]]);
    house.say(THEN);
    const rootPromptMessagesJson = [jsonBlob(SYSTEM), inline, sha256(stored)];
    const peer = await house.peer({ blobs }).turn('go on', { conversationState: { rootPromptMessagesJson } });
    isFine(peer);
    expect(
      newest()
        .messages.slice(1, 3)
        .map(({ content }) => content),
    ).toEqual(['I stand inline', 'I am a blob']);
    expect(peer.all('kv.getBlobArgs')).toHaveLength(1);
    const lost = sha256('nobody has this');
    const failed = await house.peer().turn('go on', { conversationState: { rootPromptMessagesJson: [lost] } });
    expect(failed.fault?.detail).toContain(lost.toString('hex'));
    expect(failed.fault?.detail).not.toMatch(/\d+,\s*\d+,/);
  });

  it('K02: a blob that was dropped between turns fails the run by its name before any model call, and going back helps', async () => {
    house.say({ calls: [READ] }, { text: 'It says hi.' });
    const first = await house.peer().turn('read it');
    house.say(THEN);
    const second = await first.next().turn('more', { conversationState: first.state });
    isFine(second);
    const other = await startHouse();
    const dropped = second.state.rootPromptMessagesJson.at(-1)!;
    const blobs = new Map(second.blobs);
    blobs.delete(blobKey(dropped));
    const poor = await second.next({ url: other.server.url, blobs }).turn('and?', { conversationState: second.state });
    expect(poor.fault).toMatchObject({ code: 'failed_precondition', retryable: false });
    expect(poor.fault!.detail).toContain(blobKey(dropped));
    expect([other.requests, poor.checkpoints]).toEqual([[], []]);
    other.say(THEN);
    const back = await poor.next().turn('and?', { conversationState: first.state });
    isFine(back);
    expect(reachableBlobs(back.state, back.blobs).missing).toEqual([]);
    await other.close();
  });

  it('K09: of another provider works on, and what that one thought stays away', async () => {
    const peer = await goOnFrom([
      { role: 'user', content: 'look' },
      {
        role: 'assistant',
        id: 'msg_1',
        content: [
          {
            type: 'reasoning',
            text: 'a foreign thought',
            providerOptions: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'x9' } },
          },
          { type: 'redacted-reasoning', data: 'AAAA' },
          { type: 'text', text: 'I look.', providerOptions: { openai: { itemId: 'msg_1' } } },
          { type: 'tool-call', toolCallId: 'call_a\nfc_1', toolName: 'Read', args: { path: 'b.txt' } },
        ],
      },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'call_a\nfc_1', toolName: 'Read', result: 'text of b' }],
      },
      { role: 'assistant', content: [{ type: 'reasoning', text: 'nothing but a thought', signature: 'abc' }] },
    ]);
    isFine(peer);
    const { text, body } = house.requests[0]!;
    for (const foreign of ['a foreign thought', 'nothing but a thought', 'rs_1', 'x9', 'AAAA', 'fc_1'])
      expect(text).not.toContain(foreign);
    expect(body.messages.map(({ role }) => role).slice(0, 4)).toEqual(['system', 'user', 'assistant', 'tool']);
    const [call] = body.messages[2]!.tool_calls!;
    expect(body.messages[3]).toMatchObject({ tool_call_id: call!.id, content: 'text of b' });
    // what was read is not rewritten
    expect(rootMessages(peer.state, peer.blobs)[2]).toMatchObject({
      content: [{ text: 'a foreign thought' }, {}, {}, {}],
    });
  });

  it('K12: gives the model an image whether it stands as a data URI or as bare base64', async () => {
    const image = Buffer.from('89504e470d0a1a0a0102', 'hex').toString('base64');
    const forms = [
      { type: 'image', image: `data:image/png;base64,${image}` },
      { type: 'image', image, mediaType: 'image/png' },
      { type: 'image', image, mimeType: 'image/png' },
      { type: 'image', image },
    ];
    const peer = await goOnFrom([{ role: 'user', content: [{ type: 'text', text: 'look' }, ...forms] }]);
    isFine(peer);
    const content = newest().messages[1]!.content as { type: string; image_url?: { url: string } }[];
    expect(content.flatMap(part => (part.image_url ? [part.image_url.url] : []))).toEqual(
      forms.map(() => `data:image/png;base64,${image}`),
    );
  });

  it('K14: belongs to its owner: the same conversation id of another owner is another conversation', async () => {
    const keys = ['key-of-anna-0123456789', 'key-of-bert-0123456789'];
    const entries = keys.map((key, at) => ({ name: `owner${at}`, sha256: sha256(key).toString('hex') }));
    const server = await startTestServer({ provider: house.provider.baseUrl, config: { auth: { keys: entries } } });
    const [anna, bert] = keys.map(key => ({ authorization: `Bearer ${key}` }));
    house.say({ text: 'the answer of anna' });
    const first = await house.peer({ url: server.url, headers: anna! }).turn('the question of anna');
    expect(first.fault).toBeUndefined();
    const { conversationId } = first;
    // the ids alone, as somebody has them who saw a log: nothing of the data is served to him
    const stolen = house.peer({ url: server.url, headers: bert!, conversationId });
    await stolen.turn('what was said?', { conversationState: first.state });
    expect(stolen.fault).toMatchObject({ code: 'failed_precondition', title: 'A blob is missing' });
    expect(JSON.stringify(stolen.fault)).not.toContain('of anna');
    expect(house.requests).toHaveLength(1);
    house.say(THEN, THEN);
    const own = house.peer({ url: server.url, headers: bert!, conversationId });
    isFine(await own.turn('hello'));
    expect(house.requests[0]!.text).not.toContain('of anna');
    const again = await first
      .next({ headers: anna!, blobs: new Map() })
      .turn('and?', { conversationState: first.state });
    expect([again.fault, again.all('kv.getBlobArgs')]).toEqual([undefined, []]);
    expect(house.requests[1]!.text).toContain('the question of anna');
    await server.close();
  });

  it('P16: holds valid JSON as arguments, whatever a client brought', async () => {
    const bad = ['{"path":"a.t', 'no JSON', '', null, 7, ['x'], '{"path":"a.txt"}'];
    const calls = bad.map((args, at) => ({ type: 'tool-call', toolCallId: `c${at}`, toolName: 'Read', args }));
    const results = calls.map(({ toolCallId }) => ({ type: 'tool-result', toolCallId, toolName: 'Read', result: 'x' }));
    const peer = await goOnFrom([
      { role: 'user', content: 'look' },
      { role: 'assistant', content: calls },
      { role: 'tool', content: results },
    ]);
    isFine(peer);
    const sent = newest().messages[2]!.tool_calls!.map(call => JSON.parse(call.function.arguments) as unknown);
    expect(sent).toHaveLength(bad.length);
    for (const args of sent) expect(Object.prototype.toString.call(args)).toBe('[object Object]');
    expect(sent.at(-1)).toEqual({ path: 'a.txt' });
  });

  it('P16: what the model wrote wrong is stored as valid JSON', async () => {
    house.say(
      {
        calls: [
          { name: 'Read', args: '{"path":"a.t' },
          { name: 'NoSuch', args: 'what?' },
        ],
      },
      THEN,
    );
    const peer = await house.peer().turn('read');
    isFine(peer);
    for (const call of newest().messages.find(({ tool_calls }) => tool_calls)!.tool_calls!)
      expect(JSON.parse(call.function.arguments)).toEqual({});
    const stored = rootMessages(peer.state, peer.blobs).find(({ role }) => role === 'assistant')!;
    expect(stored.content).toMatchObject([{ args: {} }, { args: {} }]);
  });

  it('F67: is told what changed in the workspace once on a resume, and nothing again', async () => {
    house.say({ calls: [READ] }, { events: [{ hang: true }] });
    const asked = house.provider.untilRequests(house.provider.requests.length + 2);
    const peer = house.peer();
    await peer.open();
    await peer.run('read it');
    await asked;
    await untilSettled(peer);
    const { state } = peer;
    const requests = [...house.requests];
    await peer.cancel();
    await peer.finish();
    const rules = [{ fullPath: '/r.md', content: 'Whistle.', type: { type: { case: 'global', value: {} } } }];
    house.say({ calls: [READ] }, THEN);
    const changed = peer.next();
    changed.workspace.context = { rules };
    await changed.open();
    await changed.resume(state);
    isFine(await changed.finish());
    requests.push(...house.requests);
    expect(newest().messages.filter(({ content }) => String(content).includes('Whistle.'))).toHaveLength(1);
    house.say(THEN);
    const again = changed.next();
    await again.open();
    await again.resume(changed.checkpoints.at(-2)!.state);
    isFine(await again.finish());
    requests.push(...house.requests);
    expect(textsOf(newest(), 'user').filter(text => text.includes('<workspace>'))).toHaveLength(2);
    expect(requests).toHaveLength(5);
    expect(brokenPrefix(requests)).toBeUndefined();
  });

  it.each<[string, object[]]>([
    [
      'an answer',
      [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: 'an answer' },
      ],
    ],
    [
      'a call without its result',
      [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'Read', args: {} }] },
      ],
    ],
    [
      'nothing but answers',
      [
        { role: 'assistant', content: 'one' },
        { role: 'assistant', content: 'two' },
      ],
    ],
  ])('F70: that ends with %s reaches the provider with a message of the user at its end', async (_what, history) => {
    isFine(await goOnFrom(history));
    expect(newest().messages.at(-1)).toMatchObject({ role: 'user', content: 'go on' });
  });

  it('F70: of a resume ends with a tool result, and an answer that was cut goes on after a message of the user', async () => {
    house.say({ calls: [READ] }, { text: 'cut of', finish: 'length' }, THEN);
    const peer = await house.peer().turn('go');
    expect(peer.fault).toBeUndefined();
    expect(house.requests.map(({ body }) => body.messages.at(-1)!.role)).toEqual(['user', 'tool', 'user']);
    const settled = peer.checkpoints.find(
      ({ state }) =>
        state.pendingToolCalls.length === 0 &&
        state.turns.length > 0 &&
        rootMessages(state, peer.blobs).at(-1)!.role === 'tool',
    )!;
    house.say(THEN);
    const again = peer.next();
    await again.open();
    await again.resume(settled.state);
    isFine(await again.finish());
    expect(newest().messages.at(-1)!.role).toBe('tool');
  });

  it('F76: has no length at which a conversation ends', async () => {
    const history = Array.from({ length: 2_000 }, (_, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: `message ${at}`,
    }));
    const peer = await goOnFrom(history, 'the last one');
    isFine(peer);
    expect(newest().messages.length).toBeGreaterThan(2_000);
    for (const text of ['message 0', 'message 1999', 'the last one']) expect(house.requests[0]!.text).toContain(text);
    expect(peer.state.rootPromptMessagesJson.length).toBeGreaterThan(2_000);
  });
});
