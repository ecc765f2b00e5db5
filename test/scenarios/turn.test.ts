import { toBinary } from '@bufbuild/protobuf';
import { AgentMode, AgentServerMessageSchema } from '@tandem/protocol/agent';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reachableBlobs, rootMessages } from '../support/graph.ts';
import { startHouse, textsOf, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { AskedBlob, Peer } from '../support/peer.ts';
import { transports } from '../support/wire.ts';

const READ = { name: 'Read', args: { path: 'a.txt' } };
const keysBetween = (peer: Peer, from: number, to: number) => peer.frames.slice(from, to).map(frame => frame.key);

describe.each(transports)('a turn over %s', transport => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport });
  });
  afterAll(() => house.close());

  it('[§22.1-order-of-a-turn] comes as heartbeat, checkpoint, updates, checkpoint, turn_ended and an empty end frame', async () => {
    house.say({ reasoning: 'let me see', text: ['hello ', 'there'] });
    const peer = await house.peer().turn('say hello');
    expect(peer.fault).toBeUndefined();
    expect(peer.frames[0]?.key).toBe('update.heartbeat');
    expect(peer.text).toBe('hello there');
    expect(peer.order.filter(key => !key.startsWith('kv.'))).toEqual([
      'exec.requestContextArgs',
      'checkpoint',
      'update.thinkingDelta',
      'update.thinkingCompleted',
      'update.textDelta',
      'update.textDelta',
      'update.tokenDelta',
      'checkpoint',
      'update.turnEnded',
      'end',
    ]);
    expect(reachableBlobs(peer.state, peer.blobs).missing).toEqual([]);
    expect(peer.faults).toEqual([]);
  });

  it('[K06-checkpoint-before-exec] K06: sends the checkpoint with the pending calls before their first exec', async () => {
    house.say({ calls: [READ] }, { text: 'done' });
    const peer = await house.peer().turn('read it');
    const started = peer.all('update.toolCallStarted')[0]!;
    const asked = peer.all('exec.readArgs')[0]!;
    const staged = peer.checkpoints.filter(({ index }) => index > started.index && index < asked.index);
    expect(staged).toHaveLength(1);
    const [before] = peer.checkpoints;
    expect(staged[0]!.state.rootPromptMessagesJson).toEqual(before!.state.rootPromptMessagesJson);
    expect(JSON.parse(staged[0]!.state.pendingToolCalls[0]!)).toMatchObject({
      role: 'assistant',
      content: [{ type: 'tool-call', toolName: 'Read', args: { path: 'a.txt' } }],
    });
    const settled = peer.checkpoints.find(({ index }) => index > asked.index)!;
    expect(settled.state.pendingToolCalls).toEqual([]);
    expect(
      rootMessages(settled.state, peer.blobs)
        .slice(-2)
        .map(message => message.role),
    ).toEqual(['assistant', 'tool']);
    expect(peer.faults).toEqual([]);
  });

  it('[§16.1-text-streams] shows thinking and text while the provider still writes', async () => {
    house.say({
      events: [
        { reasoning: 'first' },
        { gate: `thinking-${transport}` },
        { text: 'one' },
        { gate: `text-${transport}` },
        { text: ' two' },
      ],
    });
    const peer = house.peer();
    await peer.open();
    await peer.run('think');
    await peer.wait('update.thinkingDelta');
    expect(peer.all('update.textDelta')).toEqual([]);
    house.provider.open(`thinking-${transport}`);
    await peer.wait('update.textDelta');
    expect(peer.text).toBe('one');
    house.provider.open(`text-${transport}`);
    await peer.finish();
    expect(peer.text).toBe('one two');
    const [thought] = peer.updates('thinkingCompleted');
    expect(thought!.thinkingDurationMs).toBeGreaterThanOrEqual(1);
    expect(peer.order.indexOf('update.thinkingCompleted')).toBeLessThan(peer.order.indexOf('update.textDelta'));
  });

  it('[§16.2-shell-delta] shows output of a command that is still running', async () => {
    house.say({ calls: [{ name: 'Shell', args: { command: 'make' } }] }, { text: 'built' });
    const peer = house.peer({
      on: {
        shellStreamArgs: async exec => {
          await exec.reply({ case: 'shellStream', value: { event: { case: 'start', value: {} } } });
          await exec.reply({
            case: 'shellStream',
            value: { event: { case: 'stdout', value: { data: 'compiling\n' } } },
          });
          await peer.wait('update.toolCallDelta');
          expect(peer.all('update.toolCallCompleted')).toEqual([]);
          await exec.reply({ case: 'shellStream', value: { event: { case: 'exit', value: { code: 0 } } } });
          await exec.close();
        },
      },
    });
    await peer.turn('build it');
    const [delta] = peer.updates('toolCallDelta');
    expect(delta!.toolCallDelta?.delta).toMatchObject({
      case: 'shellToolCallDelta',
      value: { delta: { case: 'stdout', value: { content: 'compiling\n' } } },
    });
    expect(peer.text).toBe('built');
    expect(peer.faults).toEqual([]);
  });

  it('[§7.2-cancel-action] is ended as canceled by a cancel_action', async () => {
    house.say({ events: [{ text: 'a long story' }, { hang: true }] });
    const peer = house.peer();
    await peer.open();
    await peer.run('tell me');
    await peer.wait('update.textDelta');
    expect((await peer.cancel()).status).toBe(200);
    await peer.finish();
    expect(peer.fault?.code).toBe('canceled');
    expect(await house.requests[0]!.closed).toEqual({ early: true });
  });
});

describe('what the model is asked', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  const turn = async (text: string, extra: object = {}, message: object = {}) => {
    house.say({ text: 'fine' });
    const peer = await house.peer().turn(text, { ...extra }, { ...message });
    return { peer, body: house.requests[0]?.body };
  };

  it('[§4.1-requested-model] is the requested model, else that of model_details, else the default', async () => {
    const both = await turn('hi', {
      requestedModel: { modelId: 'blind-model' },
      modelDetails: { modelId: 'test-model' },
    });
    expect(both.body?.model).toBe('blind-model');
    const details = await turn('hi', { requestedModel: undefined, modelDetails: { modelId: 'blind-model' } });
    expect(details.body?.model).toBe('blind-model');
    const neither = await turn('hi', { requestedModel: undefined });
    expect(neither.body?.model).toBe('test-model');
  });

  it('[§6.1-variant-string] takes parameters and a variant in brackets, and the parameters win', async () => {
    const high = { id: 'effort', value: 'high' };
    const plain = await turn('hi', { requestedModel: { modelId: 'test-model', parameters: [high] } });
    expect(plain.body).toMatchObject({ model: 'test-model', reasoning_effort: 'high' });
    const variant = { modelId: 'test-model[effort=low]', isVariantStringRepresentation: true };
    const bracketed = await turn('hi', { requestedModel: variant });
    expect(bracketed.body).toMatchObject({ model: 'test-model', reasoning_effort: 'low' });
    const both = await turn('hi', { requestedModel: { ...variant, parameters: [high] } });
    expect(both.body?.['reasoning_effort']).toBe('high');
    expect((await turn('hi')).body).not.toHaveProperty('reasoning_effort');
  });

  it("[§4.2-custom-system-prompt] carries custom_system_prompt as the model's system prompt", async () => {
    const { body } = await turn('hi', { customSystemPrompt: 'You are a parrot.' });
    expect(textsOf(body!, 'system')).toEqual(['You are a parrot.']);
    const usual = await turn('hi');
    expect(textsOf(usual.body!, 'system')[0]).not.toContain('parrot');
  });

  it('[§8-text-blob] reads a user message whose text is a blob of the client', async () => {
    house.say({ text: 'read' });
    const text = Buffer.from('the text that came as a blob');
    const textBlobId = createHash('sha256').update(text).digest();
    const blobs = new Map([[textBlobId.toString('hex'), Uint8Array.from(text)]]);
    const peer = await house.peer({ blobs }).turn('', {}, { textBlobId });
    expect(peer.fault).toBeUndefined();
    expect(textsOf(house.requests[0]!.body, 'user').at(-1)).toBe('the text that came as a blob');
  });

  it('names the blob when the text of a message cannot be had, and asks no model', async () => {
    house.say({ text: 'never' });
    const textBlobId = createHash('sha256').update('nobody has this').digest();
    const peer = await house.peer().turn('', {}, { textBlobId });
    expect(peer.fault).toMatchObject({ code: 'failed_precondition', title: 'A blob is missing', retryable: false });
    expect(peer.fault?.detail).toContain(textBlobId.toString('hex'));
    expect(house.requests).toEqual([]);
  });

  it.each([AgentMode.ASK, AgentMode.PLAN, AgentMode.DEBUG])(
    '[§8-other-modes-noticed] answers mode %i with a notice and no model call',
    async mode => {
      const { peer } = await turn('hi', {}, { mode });
      expect(peer.fault).toBeUndefined();
      const notices = peer.updates('textDelta');
      expect(notices).toHaveLength(1);
      expect(notices[0]!.isServerNotice).toBe(true);
      expect(notices[0]!.text).toContain(`"${AgentMode[mode]!.toLowerCase()}"`);
      expect(peer.order.slice(-3)).toEqual(['checkpoint', 'update.turnEnded', 'end']);
      expect(house.requests).toEqual([]);
    },
  );

  it("[§9-context-reaches-model] says the workspace and its rules in the model's input", async () => {
    house.say({ text: 'fine' });
    const peer = house.peer();
    peer.workspace.context = {
      rules: [
        {
          fullPath: '/home/dev/project/.rules/tabs.md',
          content: 'Never use tabs.',
          type: { type: { case: 'global', value: {} } },
        },
      ],
    };
    await peer.turn('hi');
    const users = textsOf(house.requests[0]!.body, 'user');
    expect(users[0]).toContain('/home/dev/project');
    expect(users[0]).toContain('Never use tabs.');
    expect(users.at(-1)).toBe('hi');
  });

  it.each([
    ['summarizeAction', 'summarize_action'],
    ['executePlanAction', 'execute_plan_action'],
    ['goalContinuationAction', 'goal_continuation_action'],
  ])('[§7.2-unbuilt-action-named] refuses %s by its name', async (branch, name) => {
    const { peer } = await turn('', { action: { action: { case: branch, value: {} } } });
    expect(peer.fault).toMatchObject({ code: 'unimplemented', retryable: false });
    expect(peer.fault?.detail).toContain(name);
    expect(house.requests).toEqual([]);
  });

  it('[§6.2-credentials-nowhere] keeps the credentials of a request out of logs, errors, frames and checkpoints', async () => {
    const secret = 'their-own-key-5f1c';
    const apiKeyCredentials = {
      case: 'apiKeyCredentials',
      value: { apiKey: secret, baseUrl: 'http://127.0.0.1:9/v1' },
    };
    const refusedHere = await turn('hi', { requestedModel: { modelId: 'test-model', credentials: apiKeyCredentials } });
    expect(refusedHere.peer.fault?.code).toBe('permission_denied'); // an address of this machine
    // a provider that repeats the key it was called with
    house.say({ status: { code: 401, message: 'the key provider-key-do-not-leak is not known' } });
    const refused = await house.peer().turn('hi');
    expect(refused.fault?.code).toBe('failed_precondition');
    const unknown = await turn('hi', {
      requestedModel: {
        modelId: 'nothing-like-it',
        credentials: { case: 'apiKeyCredentials', value: { apiKey: secret } },
      },
    });
    expect(unknown.peer.fault?.code).toBe('invalid_argument');

    expect(
      house.provider.requests.map(request => JSON.stringify([request.headers, request.text])).join(),
    ).not.toContain(secret);
    const log = JSON.stringify(house.server.log);
    for (const hidden of [secret, 'provider-key-do-not-leak', 'test-token']) expect(log).not.toContain(hidden);
    for (const peer of [refusedHere.peer, refused, unknown.peer]) {
      const frames = peer.frames.map(({ message }) =>
        message ? Buffer.from(toBinary(AgentServerMessageSchema, message)).toString('latin1') : '',
      );
      const seen = [...frames, peer.fault?.detail ?? ''].join();
      for (const hidden of [secret, 'provider-key-do-not-leak']) expect(seen).not.toContain(hidden);
      for (const data of peer.blobs.values()) expect(Buffer.from(data).includes(secret)).toBe(false);
    }
  });
});

describe('text on its way to the client', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  it('[R26-emoji-never-split] keeps an emoji whole whose halves came in two deltas', async () => {
    house.say({ text: ['go \ud83d', '\ude00 on \ud83c', '\udf89 end'] });
    const peer = await house.peer().turn('cheer');
    expect(peer.text).toBe('go 😀 on 🎉 end');
    for (const { text } of peer.updates('textDelta'))
      expect(text.isWellFormed() && !text.includes('\ufffd')).toBe(true);
    expect(rootMessages(peer.state, peer.blobs).at(-1)).toMatchObject({
      role: 'assistant',
      content: [{ type: 'text', text: 'go 😀 on 🎉 end' }],
    });
  });

  it('[R27-no-error-as-text] tells an error in the end frame and never as text', async () => {
    house.say({ status: { code: 400, message: 'the provider does not like this' } });
    const refused = await house.peer().turn('hi');
    expect(refused.updates('textDelta')).toEqual([]);
    expect(refused.fault?.detail).toContain('the provider does not like this');
    house.say({
      events: [{ text: 'so far' }, { error: { message: 'the machine burned down', type: 'server_error' } }],
    });
    const broken = await house.peer().turn('hi');
    expect(broken.text).toBe('so far');
    expect(broken.fault?.detail).toContain('the machine burned down');
    expect(Buffer.from(JSON.stringify(rootMessages(broken.state, broken.blobs))).includes('burned')).toBe(false);
  });

  it('[R27-no-error-after-turn-ended] lets only a successful end frame follow turn_ended, whatever comes then', async () => {
    house.say({ text: 'done' });
    const peer = await house.peer().turn('hi');
    const ended = peer.all('update.turnEnded')[0]!;
    expect(keysBetween(peer, ended.index + 1, peer.frames.length)).toEqual(['end']);
    expect(peer.fault).toBeUndefined();
    expect((await peer.cancel()).status).toBe(200);
    expect(
      (await peer.send({ case: 'kvClientMessage', value: { id: 999, message: { case: 'setBlobResult', value: {} } } }))
        .status,
    ).toBe(200);
    expect(peer.all('end')).toHaveLength(1);
  });
});

describe('an action that comes late', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  const inject = (peer: Peer, injectionId: string, content: string) =>
    peer.send({
      case: 'conversationAction',
      value: {
        action: {
          case: 'injectContextAction',
          value: { injectionId, expectedRunId: peer.runId, payload: { case: 'systemContext', value: { content } } },
        },
      },
    });

  /** A turn that stands at its very end: its last blobs are not acknowledged yet. */
  const standAtTheEnd = async () => {
    house.say({ text: 'that is all' });
    const held: AskedBlob[] = [];
    const peer = house.peer();
    peer.onBlob = blob => {
      if (blob.kind === 'setBlobArgs' && peer.text !== '') held.push(blob);
      else return blob.auto();
      return undefined;
    };
    await peer.open();
    await peer.run('finish');
    await peer.until(() => held[0], 'blob of the last checkpoint');
    return { peer, release: () => ((peer.onBlob = undefined), Promise.all(held.map(blob => blob.auto()))) };
  };

  it('[F62-late-action-answered] F62: answers context that comes while the turn ends as queued for the next turn', async () => {
    const { peer, release } = await standAtTheEnd();
    expect((await inject(peer, 'late-1', 'the tests are red')).status).toBe(200);
    await release();
    await peer.finish();
    expect(peer.fault).toBeUndefined();
    const [state] = peer.updates('contextInjectionState');
    expect(state).toMatchObject({ injectionId: 'late-1', state: { state: { case: 'queuedForNextTurn' } } });
    expect(peer.order.indexOf('update.contextInjectionState')).toBeLessThan(peer.order.indexOf('update.turnEnded'));
  });

  it('[F62-late-action-answered] F62: takes a cancel that comes while the turn ends', async () => {
    const { peer } = await standAtTheEnd();
    await peer.cancel();
    await peer.finish();
    expect(peer.fault?.code).toBe('canceled');
    expect(peer.all('update.turnEnded')).toEqual([]);
  });

  it('takes context that comes during a round of tools into the next model call', async () => {
    house.say({ calls: [READ] }, { text: 'noted' });
    const peer = house.peer({
      on: {
        readArgs: async exec => {
          await inject(peer, 'in-time', 'the tests are green');
          await exec.auto();
        },
      },
    });
    await peer.turn('read');
    expect(peer.updates('contextInjectionState')[0]).toMatchObject({
      injectionId: 'in-time',
      state: { state: { case: 'delivered' } },
    });
    expect(textsOf(house.requests[1]!.body, 'user').at(-1)).toBe('the tests are green');
    expect(toolTexts(house.requests[1]!.body)).toHaveLength(1);
  });

  it('takes a message of the user that comes then with all that it brings, and refuses what has nothing in it', async () => {
    house.say({ calls: [READ] }, { text: 'noted' });
    const send = (injectionId: string, userMessage: object) =>
      peer.send({
        case: 'conversationAction',
        value: {
          action: {
            case: 'injectContextAction',
            value: {
              injectionId,
              expectedRunId: peer.runId,
              payload: { case: 'userContext', value: { userMessage } },
            },
          },
        },
      });
    const lost = new Uint8Array(32).fill(7);
    const peer: Peer = house.peer({
      on: {
        readArgs: async exec => {
          await send('nothing', {});
          await send('lost', { textBlobId: lost });
          await send('whole', {
            text: 'and this',
            selectedContext: { files: [{ path: '/a.txt', content: 'attached' }] },
          });
          await exec.auto();
        },
      },
    });
    await peer.turn('read');
    expect(peer.fault).toBeUndefined();
    const told = peer
      .updates('contextInjectionState')
      .map(({ injectionId, state }) => [injectionId, state?.state.case, state?.state.value] as const);
    expect(told.map(([id, state]) => [id, state])).toEqual([
      ['nothing', 'rejected'],
      ['lost', 'rejected'],
      ['whole', 'delivered'],
    ]);
    expect(told[1]![2]).toMatchObject({ reason: expect.stringContaining('07'.repeat(32)) });
    const last = textsOf(house.requests[1]!.body, 'user').at(-1);
    expect(last).toContain('attached');
    expect(last).toContain('and this');
  });
});
