import { expect, it } from 'vitest';
import { openBytes, sealBytes } from './seal.ts';

const key = new Uint8Array(32).fill(3);
const data = Uint8Array.from(Buffer.from('what nobody else should read'));

it('opens what it sealed, an empty piece too', () => {
  expect(Buffer.from(openBytes(key, sealBytes(key, data))!)).toEqual(Buffer.from(data));
  expect(openBytes(key, sealBytes(key, new Uint8Array(0)))).toHaveLength(0);
});

it('seals the same data differently each time: 12 bytes of nonce, 16 of tag, then the data', () => {
  const [one, other] = [sealBytes(key, data), sealBytes(key, data)];
  expect(one).toHaveLength(12 + 16 + data.length);
  expect(Buffer.compare(one, other)).not.toBe(0);
});

it('does not open with another key, nor what was changed or cut', () => {
  const sealed = sealBytes(key, data);
  expect(openBytes(new Uint8Array(32).fill(4), sealed)).toBeUndefined();
  for (const at of [0, 12, 28, sealed.length - 1]) {
    const changed = Uint8Array.from(sealed);
    changed[at] = changed[at]! ^ 1;
    expect(openBytes(key, changed)).toBeUndefined();
  }
  expect(openBytes(key, sealed.subarray(0, sealed.length - 1))).toBeUndefined();
  expect(openBytes(key, sealed.subarray(0, 10))).toBeUndefined();
});
