import { toBinary } from '@bufbuild/protobuf';
import { encodeEnvelope } from '@tandem/protocol';
import { AgentServerMessageSchema } from '@tandem/protocol/agent';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textMessage } from '../bridge/outbox.ts';
import type { TextBranch } from '../bridge/outbox.ts';
import { splitFrames } from './frame-bytes.ts';
import { FrameQueue } from './frame-queue.ts';

const generated = (branch: TextBranch, text: string) =>
  encodeEnvelope(toBinary(AgentServerMessageSchema, textMessage(branch, text)));
const branch = fc.constantFrom<TextBranch>('textDelta', 'thinkingDelta');
const text = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 70 }),
  fc.constantFrom('', 'é', 'ab\u007fc', 'ab\u0080c', 'x'.repeat(64), 'x'.repeat(65)),
);

describe('a queue of frames', () => {
  it('gives the bytes of the generated code in order, whatever writes beside it into the same slab', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), branch, text), { maxLength: 60 }), words => {
        const queues = [new FrameQueue(), new FrameQueue()];
        const expected: Uint8Array[][] = [[], []];
        for (const [isSecond, kind, word] of words) {
          const at = Number(isSecond);
          const frame = generated(kind, word);
          const bytes = queues[at]!.pushText(kind, word);
          expect([0, frame.length]).toContain(bytes);
          if (bytes === 0) queues[at]!.push(frame);
          expected[at]!.push(frame);
        }
        queues.forEach((queue, at) => {
          expect(queue.isEmpty).toBe(expected[at]!.length === 0);
          expect(splitFrames(queue.take()).map(frame => [...frame])).toEqual(expected[at]!.map(frame => [...frame]));
          expect(queue.isEmpty).toBe(true);
        });
      }),
    );
  });

  it('keeps texts that come one after the other as one piece', () => {
    const queue = new FrameQueue();
    for (let i = 0; i < 100; i++) expect(queue.pushText('textDelta', `word ${i}`)).toBeGreaterThan(0);
    expect(queue.take().length).toBe(1);
  });

  it('leaves what was given out as it is while thousands more are written', () => {
    const queue = new FrameQueue();
    queue.pushText('textDelta', 'first');
    const given = queue.take();
    for (let i = 0; i < 20_000; i++) queue.pushText('textDelta', `later ${i}`);
    expect([...given[0]!]).toEqual([...generated('textDelta', 'first')]);
  });
});
