import { create } from '@bufbuild/protobuf';
import { blobKey } from '@tandem/protocol';
import { AgentConversationTurnStructureSchema, ConversationTurnStructureSchema } from '@tandem/protocol/agent';
import { toBinary } from '@bufbuild/protobuf';
import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RunBlobs } from './blobs.ts';
import { History } from './history.ts';
import { Turns } from './turns.ts';

const idOf = (data: Uint8Array): Uint8Array => hash('sha256', data, 'buffer');
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));

/** Blobs in memory; what is not in the map nobody has. */
function blobsOf(...known: Uint8Array[]): RunBlobs {
  const data = new Map(known.map(one => [blobKey(idOf(one)), one]));
  return {
    message: () => undefined,
    keepMessage() {},
    put(one: Uint8Array) {
      data.set(blobKey(idOf(one)), one);
      return idOf(one);
    },
    getAll: async (references: readonly Uint8Array[]) =>
      references.map(reference => {
        const found = data.get(blobKey(reference));
        return found ? { data: found, inline: false } : { data: reference, inline: true };
      }),
  } as unknown as RunBlobs;
}

const user = bytes('{"role":"user","content":"hello"}');
const answer = bytes('{"role":"assistant","content":"hi"}');

describe('a history', () => {
  it('is what its references lead to, and names them as they were', async () => {
    const history = await History.restore(blobsOf(user, answer), [idOf(user), idOf(answer)]);
    expect(history.messages).toEqual([
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'hi' },
    ]);
    expect(history.references).toEqual([idOf(user), idOf(answer)]);
    expect(history.turnIsOver).toBe(true);
  });

  it('gives an inline message an id of its own', async () => {
    const history = await History.restore(blobsOf(), [user]);
    expect(history.references).toEqual([idOf(user)]);
  });

  it('names the entry and the blob that nobody has, and what an entry is in place of a message', async () => {
    const gone = idOf(bytes('gone'));
    await expect(History.restore(blobsOf(user), [idOf(user), gone])).rejects.toMatchObject({
      name_: 'blob_missing',
      detail: expect.stringContaining(
        `root_prompt_messages_json[1] refers to blob ${Buffer.from(gone).toString('hex')}`,
      ),
    });
    for (const [text, why] of [
      ['not json', 'it is not JSON'],
      ['{"role":"wizard","content":""}', 'role'],
      ['[]', 'object'],
    ] as const) {
      const wrong = bytes(text);
      await expect(History.restore(blobsOf(wrong), [idOf(wrong)])).rejects.toMatchObject({
        name_: 'bad_state',
        detail: expect.stringContaining(why),
      });
    }
  });

  it('replaces only the system message, and only at the front', async () => {
    const history = await History.restore(blobsOf(user), [idOf(user)]);
    history.replaceSystem({ role: 'system', content: 'one' });
    history.replaceSystem({ role: 'system', content: 'two' });
    expect(history.messages.map(({ content }) => content)).toEqual(['two', 'hello']);
    expect(history.references).toHaveLength(2);
  });

  it('is not over while a call is open', () => {
    const history = new History(blobsOf());
    expect(history.turnIsOver).toBe(false);
    history.append({
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'Read', args: {} }],
    });
    expect(history.turnIsOver).toBe(false);
    history.append({ role: 'assistant', content: 'done' });
    expect(history.turnIsOver).toBe(true);
  });
});

describe('turns', () => {
  const turnBlob = toBinary(
    ConversationTurnStructureSchema,
    create(ConversationTurnStructureSchema, {
      turn: {
        case: 'agentConversationTurn',
        value: create(AgentConversationTurnStructureSchema, { steps: [idOf(bytes('step'))], requestId: 'r' }),
      },
    }),
  );

  it('go on with the last turn of a state, and leave the others as they are', async () => {
    const earlier = idOf(bytes('earlier'));
    const turns = await Turns.resume(blobsOf(turnBlob), [earlier, idOf(turnBlob)]);
    expect(turns.references()).toEqual([earlier, idOf(turnBlob)]);
    turns.append({ case: 'assistantMessage', value: { $typeName: 'agent.v1.AssistantMessage', text: 'more' } });
    const [first, second, ...more] = turns.references();
    expect([first, more]).toEqual([earlier, []]);
    expect(blobKey(second!)).not.toBe(blobKey(idOf(turnBlob)));
  });

  it('begin anew behind what a state has, or where it has none', async () => {
    const turns = Turns.after(blobsOf(turnBlob), [idOf(turnBlob)]);
    turns.append({ case: 'assistantMessage', value: { $typeName: 'agent.v1.AssistantMessage', text: 'new' } });
    expect(turns.references()).toHaveLength(2);
    expect((await Turns.resume(blobsOf(), [])).references()).toEqual([]);
  });

  it('name the turn that nobody has, and the one that is none', async () => {
    await expect(Turns.resume(blobsOf(), [idOf(turnBlob)])).rejects.toMatchObject({
      name_: 'blob_missing',
      detail: expect.stringContaining('turns[0]'),
    });
    const wrong = Uint8Array.of(0xff, 0xff, 0xff);
    await expect(Turns.resume(blobsOf(wrong), [idOf(wrong)])).rejects.toMatchObject({
      name_: 'bad_state',
      detail: expect.stringContaining('turns[0]'),
    });
  });
});
