import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonPieces, writeRequestBody } from './request-body.ts';

const long = 'The "quick" fox\n🙂'.repeat(100_000);

it('is what JSON.stringify gives, whatever the value and however long its texts', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.nat(40).map(cut => long.slice(cut)),
    fc.nat(3).map(odd => 'a'.repeat(odd) + '🙂'.repeat(300_000)),
  );
  const { value } = fc.letrec(tie => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.constantFrom(0, true, null, undefined),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.string({ maxLength: 5 }), tie('value'), { maxKeys: 3 }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(value, async inner => {
      const body = { model: 'm', messages: [inner], none: undefined };
      const written = await writeRequestBody(body);
      const plain = typeof written === 'string' ? written : Buffer.from(written).toString('utf8');
      expect(plain === JSON.stringify(body)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

it('is written in pieces, so that none of them holds up the streams beside it', () => {
  const pieces = [
    ...jsonPieces({
      messages: [
        { role: 'user', content: long },
        { role: 'user', content: 'short' },
      ],
    }),
  ];
  expect(Math.max(...pieces.map(piece => piece.length))).toBeLessThan(1024 * 1024);
});

it('turns the loop while it is written', async () => {
  let turns = 0;
  const count = () => (turns++, (timer = setImmediate(count)));
  let timer = setImmediate(count);
  await writeRequestBody({ content: long.repeat(4) });
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(8);
});
