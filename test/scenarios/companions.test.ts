import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../support/manual-clock.ts';
import { callCompanion, callRaw, forms, tryCompanion } from '../support/companion.ts';
import type { Form, Method } from '../support/companion.ts';
import { startHouse, textsOf } from '../support/house.ts';
import type { House } from '../support/house.ts';
import { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import { closeConnections, transports } from '../support/wire.ts';
import type { Transport } from '../support/wire.ts';
import { openSqliteStore } from '../../packages/server/src/store/sqlite/store.ts';

const ways = transports.flatMap(transport => forms.map((form): [Form, Transport] => [form, transport]));

describe.each(ways)('the models as %s over %s', (form, transport) => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport });
  });
  afterAll(() => house.close());
  const caller = () => ({ url: house.server.url, transport, form });

  it('[product-models-endpoint] names every configured model, the default one first, and the default one alone', async () => {
    const { models } = await callCompanion(caller(), 'getUsableModels', {});
    expect(
      models.map(({ modelId, displayModelId, displayName, displayNameShort }) => [
        modelId,
        displayModelId,
        displayName,
        displayNameShort,
      ]),
    ).toEqual([
      ['test-model', 'test-model', 'Test model', 'Test model'],
      ['blind-model', 'blind-model', 'Blind model', 'Blind model'],
    ]);
    expect(models.map(({ aliases }) => aliases)).toEqual([
      ['scripted/test-model'],
      ['eyeless', 'scripted/blind-model'],
    ]);
    const { model } = await callCompanion(caller(), 'getDefaultModelForCli', {});
    expect(model?.modelId).toBe('test-model');
  });

  it('adds the names that a client asks about and a run would accept, once each', async () => {
    const customModelIds = [
      'blind-model',
      'eyeless',
      'blind-model[effort=high]',
      'eyeless',
      'no-such-model',
      '',
      'x'.repeat(5_000),
    ];
    const { models } = await callCompanion(caller(), 'getUsableModels', { customModelIds });
    expect(models.slice(2).map(({ modelId, displayName }) => [modelId, displayName])).toEqual([
      ['eyeless', 'Blind model'],
      ['blind-model[effort=high]', 'Blind model high'],
    ]);
  });

  it('allows every intent by restricting none', async () => {
    expect((await callCompanion(caller(), 'getAllowedModelIntents', {})).modelIntents).toEqual([]);
  });
});

describe('the models', () => {
  it('[product-listed-is-accepted] are accepted by a run under each id, display id and alias of their list (M01)', async () => {
    const provider = await startProvider({ answers: ({ body }) => ({ text: `I am ${body.model}` }) });
    const server = await startTestServer({ provider: provider.baseUrl });
    const { models } = await callCompanion({ url: server.url }, 'getUsableModels', {
      customModelIds: ['blind-model-low', 'eyeless[effort=high]', 'auto'],
    });
    const names = models.flatMap(({ modelId, displayModelId, aliases }) => [
      ...new Set([modelId, displayModelId, ...aliases]),
    ]);
    expect(names).toHaveLength(8);
    for (const name of names) {
      const peer = await new Peer({ url: server.url, model: name }).turn('who are you?');
      expect([name, peer.fault, peer.text]).toEqual([
        name,
        undefined,
        /blind|eyeless/.test(name) ? 'I am blind-model' : 'I am test-model',
      ]);
    }
    closeConnections();
    await server.close();
    await provider.close();
  });
});

describe.each(ways)('NameAgent as %s over %s', (form, transport) => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport, standing: true });
  });
  afterAll(() => house.close());
  const ask = async (userMessage: string) =>
    (await callCompanion({ url: house.server.url, transport, form }, 'nameAgent', { userMessage })).name;

  it('[product-name-agent] gives the title that the default model finds: one line, no quotes, at most six words', async () => {
    house.say({ text: ['\n"Fix the ', 'login bug."\n', 'I would start'] });
    expect(await ask('the login is broken again, please mend it')).toBe('Fix the login bug');
    const { body } = house.requests[0]!;
    expect([body.model, body.tools]).toEqual(['test-model', undefined]);
    expect(textsOf(body, 'user')).toEqual(['<message>\nthe login is broken again, please mend it\n</message>']);
    house.say({ text: 'Title: one two three four five six seven eight' });
    expect(await ask('count')).toBe('one two three four five six');
  });

  it('takes the first words of the message when the model fails, and asks it once', async () => {
    house.say({ status: { code: 503, message: 'overloaded' } });
    expect(await ask('\n  Please  mend the\tlogin of the shop, it is broken\nsecond line')).toBe(
      'Please mend the login of the',
    );
    expect(house.requests).toHaveLength(1);
  });

  it('takes the first words when the model says nothing, or only marks', async () => {
    house.say({ text: ' "" \n**' });
    expect(await ask('hello there')).toBe('hello there');
  });

  it('[product-name-agent] waits ten seconds for the model and no longer, and lets its request go', async () => {
    house.say({ silent: 'before-headers' });
    const waiting = ask('mend the login');
    await house.provider.untilRequests(house.provider.requests.length + 1);
    await house.clock.untilTimer(10_000);
    house.clock.advance(10_000);
    expect(await waiting).toBe('mend the login');
    expect(await house.requests[0]!.closed).toEqual({ early: true });
  });

  it('asks nobody about a message without words', async () => {
    house.say();
    expect(await ask(' \n ')).toBe('New conversation');
    expect(house.requests).toHaveLength(0);
  });

  it('sends the model the beginning of a long message alone', async () => {
    house.say({ text: 'Long story' });
    expect(await ask('word '.repeat(100_000))).toBe('Long story');
    expect(house.requests[0]!.text.length).toBeLessThan(6_000);
  });
});

it('NameAgent takes the first words where only the demo answers', async () => {
  const server = await startTestServer();
  expect((await callCompanion({ url: server.url }, 'nameAgent', { userMessage: 'What is in this folder?' })).name).toBe(
    'What is in this folder?',
  );
  closeConnections();
  await server.close();
});

describe.each(ways)('UpdateConversationMetadata as %s over %s', (form, transport) => {
  it('[product-conversation-metadata] keeps the name and the folders of a conversation for its owner alone', async () => {
    const server = await startTestServer();
    const caller = { url: server.url, transport, form };
    const conversationId = 'conversation-1';
    await callCompanion(caller, 'updateConversationMetadata', {
      conversationId,
      name: 'First',
      workspacePaths: ['/a', '/b'],
    });
    await callCompanion(caller, 'updateConversationMetadata', {
      conversationId,
      name: 'Second',
      onlySetNameIfEmpty: true,
    });
    const store = openSqliteStore({ file: `${server.folder}/tandem.db`, clock: new ManualClock() });
    const owner = 'local';
    expect(await store.conversations.metadata({ owner }, conversationId)).toEqual({
      name: 'First',
      workspacePaths: ['/a', '/b'],
    });
    await callCompanion(caller, 'updateConversationMetadata', { conversationId, name: 'Second' });
    expect(await store.conversations.metadata({ owner }, conversationId)).toEqual({
      name: 'Second',
      workspacePaths: ['/a', '/b'],
    });
    expect(await store.conversations.metadata({ owner: 'somebody else' }, conversationId)).toBeUndefined();
    await store.close();
    closeConnections();
    await server.close();
  });
});

describe.each(ways)('bad input of the companions as %s over %s', (form, transport) => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport, config: { limits: { messageBytes: 65_536 } } });
  });
  afterAll(() => house.close());
  const caller = () => ({ url: house.server.url, transport, form });
  const INVALID = form === 'grpc-web' ? { status: 200, code: '3' } : { status: 400, code: 'invalid_argument' };

  it('is refused with what is wrong and where', async () => {
    const refused: [Method, object, string][] = [
      [
        'getUsableModels',
        { customModelIds: Array.from({ length: 101 }, (_, index) => `m${index}`) },
        'custom_model_ids has 101 entries',
      ],
      ['updateConversationMetadata', { name: 'x' }, 'conversation_id is empty'],
      [
        'updateConversationMetadata',
        { conversationId: 'c'.repeat(300) },
        'conversation_id has 300 characters; the limit is 256',
      ],
      ['updateConversationMetadata', { conversationId: 'c', name: 'n'.repeat(1_001) }, 'name has 1001 characters'],
      [
        'updateConversationMetadata',
        { conversationId: 'c', workspacePaths: Array(101).fill('/a') },
        'workspace_paths has 101 entries',
      ],
      [
        'updateConversationMetadata',
        { conversationId: 'c', workspacePaths: ['/a', '/'.repeat(5_000)] },
        'workspace_paths[1] has 5000 characters',
      ],
      ['uploadConversationBlobs', { blobs: [] }, 'conversation_id is empty'],
      ['notifyConversationClone', { sourceConversationId: 'c' }, 'conversation_id is empty'],
      ['notifyConversationClone', { conversationId: 'c' }, 'source_conversation_id is empty'],
      ['getPromptContextUsage', { conversationId: 'c' }, 'snapshot_blob_id has 0 bytes'],
    ];
    for (const [method, message, text] of refused) {
      expect([method, await tryCompanion(caller(), method, message)]).toEqual([
        method,
        { ...INVALID, text: expect.stringContaining(text) },
      ]);
    }
  });

  it('does not get further than the reading of its body', async () => {
    const methods: Method[] = ['getUsableModels', 'nameAgent', 'uploadConversationBlobs', 'getPromptContextUsage'];
    for (const method of methods) {
      const garbage = await callRaw(caller(), method, Buffer.from([0, 0, 0, 0, 3, 0xff, 0xff, 0xff]));
      expect([method, garbage]).toEqual([
        method,
        { ...INVALID, text: expect.stringMatching(/^The body is no .*Request/) },
      ]);
    }
    const large = await callRaw(caller(), 'nameAgent', Buffer.alloc(100_000));
    expect(large).toEqual({
      ...(form === 'grpc-web' ? { status: 200, code: '8' } : { status: 429, code: 'resource_exhausted' }),
      text: expect.stringContaining('the limit is 65536'),
    });
    house.say({ text: 'Still here' });
    expect((await callCompanion(caller(), 'nameAgent', { userMessage: 'hello' })).name).toBe('Still here');
  });

  it('is not told from a caller without a key where keys are asked for', async () => {
    const server = await startTestServer({ config: { auth: { keys: [{ name: 'ci', sha256: '0'.repeat(64) }] } } });
    const told = await tryCompanion({ ...caller(), url: server.url }, 'getUsableModels', {});
    expect(told).toMatchObject(
      form === 'grpc-web' ? { status: 200, code: '16' } : { status: 401, code: 'unauthenticated' },
    );
    closeConnections();
    await server.close();
  });
});

it('a companion answers another content type with 415 and those it takes', async () => {
  const server = await startTestServer();
  const told = await tryCompanion(
    { url: server.url, headers: { 'content-type': 'text/plain' } },
    'getUsableModels',
    {},
  );
  expect(told).toEqual({
    status: 415,
    code: 'invalid_argument',
    text: expect.stringContaining('application/grpc-web+proto'),
  });
  closeConnections();
  await server.close();
});
