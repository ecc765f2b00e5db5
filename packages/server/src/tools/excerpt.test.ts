import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excerptOf, headOf, tailOf } from './excerpt.ts';
import { OutputExcerpt } from './output-excerpt.ts';

describe('excerptOf', () => {
  it('leaves a text within its limit alone', () => {
    expect(excerptOf('x'.repeat(90), 90)).toBe('x'.repeat(90));
  });

  it('names the characters left out between head and tail', () => {
    expect(excerptOf('a'.repeat(60) + 'b'.repeat(40), 30)).toBe(
      `${'a'.repeat(20)}\n… 70 characters left out …\n${'b'.repeat(10)}`,
    );
  });

  it('cuts no character in two', () => {
    expect(headOf('ab😀', 3)).toBe('ab');
    expect(tailOf('😀ab', 3)).toBe('ab');
    expect(excerptOf('😀'.repeat(50), 31).isWellFormed()).toBe(true);
  });
});

describe('OutputExcerpt', () => {
  it('is the excerpt of the joined pieces, however they were cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 40 }), { maxLength: 30 }),
        fc.integer({ min: 9, max: 120 }),
        (pieces, limit) => {
          const output = new OutputExcerpt(limit);
          for (const piece of pieces) output.push(piece);
          const whole = pieces.join('');
          const { head, tail, elided } = output.ends();
          expect(output.length).toBe(whole.length);
          expect(whole.startsWith(head)).toBe(true);
          expect(whole.endsWith(tail)).toBe(true);
          expect(head.length + tail.length + elided).toBe(whole.length);
          expect(head.length + tail.length).toBeLessThanOrEqual(limit + 1);
          if (elided === 0) expect(output.text()).toBe(whole);
          else expect(output.text()).toContain(`… ${elided} characters left out …`);
        },
      ),
    );
  });

  it('keeps a text that just fits', () => {
    const output = new OutputExcerpt(30);
    output.push('x'.repeat(15));
    output.push('y'.repeat(15));
    expect(output.text()).toBe('x'.repeat(15) + 'y'.repeat(15));
  });
});
