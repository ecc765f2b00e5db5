import { create, toBinary } from '@bufbuild/protobuf';
import { encodeEnvelope } from '@tandem/protocol';
import { AgentServerMessageSchema } from '@tandem/protocol/agent';
import type { InteractionUpdate } from '@tandem/protocol/agent';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { updateMessage } from '../bridge/outbox.ts';
import { deltaFrame } from './delta-frame.ts';
import { messageFrame } from './frame.ts';
import { joinFrames } from './frame-bytes.ts';

type Branch = InteractionUpdate['message'];
const textDelta = (text: string, isServerNotice = false): Branch => ({
  case: 'textDelta',
  value: { $typeName: 'agent.v1.TextDeltaUpdate', text, isServerNotice },
});
const thinkingDelta = (text: string): Branch => ({
  case: 'thinkingDelta',
  value: { $typeName: 'agent.v1.ThinkingDeltaUpdate', text },
});
const updateOf = (branch: Branch) => {
  const { message } = updateMessage(branch);
  if (message.case !== 'interactionUpdate') throw new Error('no update');
  return message.value;
};
const generated = (branch: Branch) =>
  encodeEnvelope(toBinary(AgentServerMessageSchema, create(AgentServerMessageSchema, updateMessage(branch))));

/** Short and long texts, of one to four bytes a character, across each size at which a length needs one more byte. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }).filter(one => one.isWellFormed()),
  fc
    .tuple(
      fc.constantFrom('a', 'é', '語', '🙂'),
      fc.constantFrom(0, 1, 62, 63, 64, 65, 120, 127, 128, 4_000, 16_383, 16_384, 70_000),
    )
    .map(([one, count]) => one.repeat(count)),
);

describe('a delta written by hand', () => {
  it('has the bytes of the generated code, for text and for thinking', () => {
    fc.assert(
      fc.property(text, one => {
        for (const branch of [textDelta(one), thinkingDelta(one)]) {
          expect(Buffer.compare(deltaFrame(updateOf(branch))!, generated(branch))).toBe(0);
        }
      }),
    );
  });

  it('is left to the generated code when it says more than a text', () => {
    expect(deltaFrame(updateOf(textDelta('notice', true)))).toBeUndefined();
    expect(
      deltaFrame(updateOf({ case: 'heartbeat', value: { $typeName: 'agent.v1.HeartbeatUpdate' } })),
    ).toBeUndefined();
    expect(
      Buffer.compare(messageFrame(updateMessage(textDelta('notice', true))), generated(textDelta('notice', true))),
    ).toBe(0);
  });

  it('keeps its bytes while later ones are written', () => {
    const frames = Array.from({ length: 5_000 }, (_, at) => ({
      frame: messageFrame(updateMessage(textDelta(`word ${at}`))),
      at,
    }));
    for (const { frame, at } of frames) expect(Buffer.compare(frame, generated(textDelta(`word ${at}`)))).toBe(0);
  });
});

describe('joined frames', () => {
  it('are their bytes one behind the other, whichever of them are neighbours', () => {
    const frame = fc.oneof(
      fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map(one => messageFrame(updateMessage(textDelta(one)))),
      fc.uint8Array({ maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 30 }), frames => {
        expect(Buffer.compare(Buffer.concat(joinFrames(frames)), Buffer.concat(frames))).toBe(0);
      }),
    );
  });
});
