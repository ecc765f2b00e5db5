import { create, toBinary } from '@bufbuild/protobuf';
import { blobKey, decodeAppend, encodeAppend } from '@tandem/protocol';
import { AgentClientMessageSchema, AgentServerMessageSchema } from '@tandem/protocol/agent';
import type { ConversationStateStructure } from '@tandem/protocol/agent';
import { startProvider } from '../test/support/provider.ts';
import { closeConnections } from '../test/support/wire.ts';
import type { Figure } from './figure.ts';
import { spreadOf } from './figure.ts';
import { runLightly } from './light-client.ts';
import { cpuMs, pause, serve } from './process.ts';
import { scriptedConfig } from './scripted-config.ts';

const EARLY = 5;
const LATE = 200;
/** Turns on both sides of one that are looked at with it; the middle one of them counts. */
const AROUND = 4;
const ANSWER = 'The file greets whoever reads it, in one short line of text. '.repeat(4);

interface Conversation {
  readonly cpuMs: number[];
  readonly states: ConversationStateStructure[];
  readonly blobs: Map<string, Uint8Array>;
}

async function converse(url: string, pid: number, turns: number, id: string): Promise<Conversation> {
  const blobs = new Map<string, Uint8Array>();
  const states: ConversationStateStructure[] = [];
  const took: number[] = [];
  for (let turn = 1; turn <= turns; turn++) {
    const before = cpuMs(pid);
    const text = `What does the file say, in turn ${turn}? Look at it as if for the first time.`;
    const state = await runLightly({ url, text, state: states.at(-1), blobs, conversationId: id });
    await pause(5); // what the end of a turn leaves to do is of the turn
    took.push(cpuMs(pid) - before);
    states.push(state!);
  }
  return { cpuMs: took, states, blobs };
}

const around = (values: readonly number[], turn: number) =>
  spreadOf(values.slice(turn - 1 - AROUND, turn + AROUND)).median;
const slope = (early: number, late: number) => ((late - early) / (LATE - EARLY)) * 1000;

/**
 * What a turn has to read and write however it is done: its run request as hex, every message as JSON, the request to the
 * provider, and the two checkpoints that it publishes.
 */
function floorMs({ states, blobs }: Conversation, turn: number): number {
  const state = states[turn - 2]!;
  const request = create(AgentClientMessageSchema, {
    message: { case: 'runRequest', value: { conversationState: state } },
  });
  const body = encodeAppend({ requestId: 'floor', seqno: 0, bytes: toBinary(AgentClientMessageSchema, request) });
  const checkpoint = create(AgentServerMessageSchema, {
    message: { case: 'conversationCheckpointUpdate', value: state },
  });
  const messages = state.rootPromptMessagesJson.map(id => blobs.get(blobKey(id))!);
  const decoder = new TextDecoder();
  const once = () => {
    const startedAt = performance.now();
    decodeAppend(body, { maxBytes: body.length });
    const read: unknown[] = messages.map(data => JSON.parse(decoder.decode(data)));
    Buffer.from(JSON.stringify({ messages: read }));
    for (let i = 0; i < 2; i++) toBinary(AgentServerMessageSchema, checkpoint);
    return performance.now() - startedAt;
  };
  for (let i = 0; i < 200; i++) once();
  return spreadOf(Array.from({ length: 200 }, once)).median;
}

/** How much more CPU a turn takes for each turn before it. */
export async function measureLongConversation(repetitions: number): Promise<Figure> {
  const provider = await startProvider({ answers: () => ({ text: ANSWER }) });
  const served = await serve(scriptedConfig(provider.baseUrl));
  const slopes: number[] = [];
  const floors: number[] = [];
  const turnsMs: string[] = [];
  try {
    await converse(served.url, served.pid, LATE, 'warm-up');
    for (let i = 0; i < repetitions; i++) {
      const one = await converse(served.url, served.pid, LATE + AROUND, `conversation-${i}`);
      const [early, late] = [around(one.cpuMs, EARLY), around(one.cpuMs, LATE)];
      slopes.push(slope(early, late));
      floors.push(slope(floorMs(one, EARLY), floorMs(one, LATE)));
      turnsMs.push(`${early.toFixed(1)} and ${late.toFixed(1)}`);
    }
  } finally {
    closeConnections();
    await Promise.all([served.stop(), provider.close()]);
  }
  return {
    name: 'CPU of an earlier turn',
    workload: `conversations of ${LATE + AROUND} short turns after a warm one; the server's CPU time of turn ${LATE} less that of turn ${EARLY}, each the middle of ${2 * AROUND + 1}, for each turn between`,
    unit: 'µs',
    ours: slopes,
    limit: { what: 'hex, JSON and protobuf of what such a turn reads and writes', values: floors },
    target: { mostOurs: 15 },
    notes: [`turns ${EARLY} and ${LATE} took ${turnsMs.join('; ')} ms`],
  };
}
