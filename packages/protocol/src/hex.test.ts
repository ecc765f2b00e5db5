import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeHex, decodeHexDigits, encodeHex, writeHexDigits } from './hex.ts';

it('writes lower case and reads any case', () => {
  expect(encodeHex(Uint8Array.of(0x00, 0xab, 0xff))).toBe('00abff');
  expect(decodeHex('00AbfF')).toEqual(Uint8Array.of(0x00, 0xab, 0xff));
});

it('gives any bytes back, as text and as digits in the middle of a buffer', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      expect(decodeHex(encodeHex(bytes))).toEqual(bytes);
      const buffer = new Uint8Array(bytes.length * 2 + 3);
      writeHexDigits(bytes, buffer, 2);
      expect([buffer[0], buffer[1], buffer.at(-1)]).toEqual([0, 0, 0]);
      expect(decodeHexDigits(buffer.subarray(2, -1))).toEqual(bytes);
      expect(encodeHex(bytes)).toBe(Buffer.from(bytes).toString('hex'));
    }),
  );
});

it('says where a text stops being hex', () => {
  expect(decodeHex('abc')).toEqual({ kind: 'odd-length', length: 3 });
  expect(decodeHex('00g0')).toEqual({ kind: 'bad-digit', at: 2, byte: 0x67 });
  expect(decodeHex('000 ')).toEqual({ kind: 'bad-digit', at: 3, byte: 0x20 });
  expect(decodeHex('0x')).toEqual({ kind: 'bad-digit', at: 1, byte: 0x78 });
});

it('reads long texts as strictly as short ones', () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i * 7);
  const digits = new TextEncoder().encode(encodeHex(bytes));
  expect(Buffer.compare(decodeHexDigits(digits) as Uint8Array, bytes)).toBe(0);
  for (const at of [0, 1, 999, 65_535, 65_536, 100_001, digits.length - 1]) {
    const flawed = digits.slice();
    flawed[at] = 0x67;
    expect(decodeHexDigits(flawed)).toEqual({ kind: 'bad-digit', at, byte: 0x67 });
  }
});
