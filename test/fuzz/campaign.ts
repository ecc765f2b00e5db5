import { create, toBinary } from '@bufbuild/protobuf';
import { encodeAppend, encodeEnvelope } from '@tandem/protocol';
import { BidiRequestIdSchema } from '@tandem/protocol/aiserver';
import { gzipSync } from 'node:zlib';
import { bodyKinds, readBodyOf } from './bodies.ts';
import type { BodyKind } from './bodies.ts';
import { dice } from './dice.ts';
import type { Dice } from './dice.ts';
import { openGround, playLives } from './ground.ts';
import { mutate, mutateBytes } from './mutate.ts';
import type { Seeds } from './seeds.ts';

/** Inputs that broke something, and what. `stream` has the appends of one stream in their order, the others one body. */
export interface Crash {
  readonly kind: BodyKind | 'stream';
  readonly inputs: readonly Uint8Array[];
  readonly what: string;
}

export interface CampaignOptions {
  readonly seeds: Seeds;
  readonly seed: number;
  /** Ends with the round in which one of the two is reached. */
  readonly inputs: number;
  readonly until?: () => boolean;
  readonly onRound?: (inputs: number) => void;
}

/** Streams beside one another in one round. */
const LIVES = 25;
/** Bodies that are only read, in one round. */
const BODIES = 500;
/** Rounds with one registry and store: what they remember of conversations is theirs to bound, and costs time here. */
const ROUNDS_A_GROUND = 100;
/** More is not worth knowing. */
const CRASHES = 20;

/** Throws inputs at the server's reading and at a registry, the same ones for the same seed. */
export async function fuzz(options: CampaignOptions): Promise<{ inputs: number; crashes: Crash[] }> {
  const { seeds, seed, onRound, until = () => false } = options;
  const crashes: Crash[] = [];
  const chance = dice(seed);
  let inputs = 0;
  let ground = openGround();
  for (let round = 1; inputs < options.inputs && crashes.length < CRASHES && !until(); round++) {
    for (let body = 0; body < BODIES; body++) {
      const kind = chance.pick(bodyKinds);
      const bytes = makeBody(kind, seeds, chance);
      const what = await readBodyOf(kind, bytes);
      if (what !== undefined) crashes.push({ kind, inputs: [bytes], what });
      inputs++;
    }
    const lives = Array.from({ length: LIVES }, () => makeLife(seeds, chance));
    inputs += lives.reduce((sum, life) => sum + life.length, 0);
    const broken = await playLives(ground, lives);
    if (broken.size > 0) crashes.push(...(await findCrashes(lives, broken)));
    if (broken.size > 0 || round % ROUNDS_A_GROUND === 0) {
      await ground.close();
      ground = openGround();
    }
    onRound?.(inputs);
  }
  await ground.close();
  return { inputs, crashes };
}

/** Plays each life of a broken round alone. What only breaks in company is reported with all of the round's appends. */
async function findCrashes(lives: readonly Uint8Array[][], broken: ReadonlyMap<number, string>): Promise<Crash[]> {
  const found: Crash[] = [];
  for (const inputs of lives) {
    const what = await replay({ kind: 'stream', inputs });
    if (what !== undefined) found.push({ kind: 'stream', inputs, what });
  }
  if (found.length > 0) return found;
  return [...broken].map(([at, what]) => ({ kind: 'stream', inputs: lives[at]!, what: `only beside others: ${what}` }));
}

/** Does again what broke something. @returns what is broken, or undefined when nothing is any more */
export async function replay({ kind, inputs }: Pick<Crash, 'kind' | 'inputs'>): Promise<string | undefined> {
  if (kind !== 'stream') return readBodyOf(kind, inputs[0]!);
  const ground = openGround();
  try {
    return (await playLives(ground, [inputs])).get(0);
  } finally {
    await ground.close();
  }
}

const messagesOf = ({ starts, others }: Seeds): readonly Uint8Array[] => [...starts, ...others];

/** A message, more often changed than not. */
function makeMessage(from: readonly Uint8Array[], all: readonly Uint8Array[], chance: Dice): Uint8Array {
  const message = chance.pick(from);
  return chance.once(4) ? message : mutate(message, all, chance);
}

function makeBody(kind: BodyKind, seeds: Seeds, chance: Dice): Uint8Array {
  const all = messagesOf(seeds);
  if (kind === 'append') {
    const bytes = makeMessage(all, all, chance);
    const form = chance.pick(['hex', 'binary', 'both'] as const);
    const body = encodeAppend({ requestId: 'request-1', seqno: chance.roll(5), bytes, form });
    return chance.once(2) ? mutate(body, all, chance) : body;
  }
  const id = toBinary(BidiRequestIdSchema, create(BidiRequestIdSchema, { requestId: 'request-1' }));
  const messages =
    kind === 'run-sse'
      ? [mutate(id, [id], chance)]
      : Array.from({ length: 1 + chance.roll(3) }, () => makeMessage(all, all, chance));
  const envelopes = messages.map(bytes => {
    if (chance.once(12)) return encodeEnvelope(gzipSync(bytes, { level: 1 }), 1);
    return encodeEnvelope(bytes, chance.once(10) ? chance.roll(256) : 0);
  });
  const body = Buffer.concat(envelopes);
  return chance.once(2) ? mutateBytes(body, chance) : body;
}

/** The appends of one stream: a run request somewhere near the beginning, then whatever, numbered as it should be or not. */
function makeLife(seeds: Seeds, chance: Dice): Uint8Array[] {
  const all = messagesOf(seeds);
  const length = 1 + chance.roll(10);
  return Array.from({ length }, (_, at) => {
    const bytes = makeMessage(at === 0 && !chance.once(10) ? seeds.starts : seeds.others, all, chance);
    const seqno = chance.once(12) ? chance.roll(length + 2) : at;
    return encodeAppend({ requestId: 'request-1', seqno, bytes, form: 'binary' });
  });
}
