import { expect, it } from 'vitest';
import { OutputPieces } from './output-pieces.ts';

function collect(cap = 1_000_000) {
  const seen: [string, string][] = [];
  const pieces = new OutputPieces(cap, (stream, text) => seen.push([stream, text]));
  return { pieces, seen, text: () => seen.map(([, text]) => text).join('') };
}

it('splits no character, wherever the chunks are cut', () => {
  const { pieces, text } = collect();
  for (const byte of Buffer.from('naïve 漢🙂\n')) pieces.write('stdout', Buffer.of(byte));
  pieces.end();
  expect(text()).toBe('naïve 漢🙂\n');
});

it('keeps the order of the two outputs, and joins what belongs together', () => {
  const { pieces, seen } = collect();
  pieces.write('stdout', Buffer.from('a'));
  pieces.write('stdout', Buffer.from('b'));
  pieces.write('stderr', Buffer.from('c'));
  pieces.write('stdout', Buffer.from('d'));
  pieces.end();
  expect(seen).toEqual([
    ['stdout', 'ab'],
    ['stderr', 'c'],
    ['stdout', 'd'],
  ]);
});

it('keeps characters of the two outputs apart', () => {
  const { pieces, seen } = collect();
  const [first, ...rest] = Buffer.from('漢');
  pieces.write('stdout', Buffer.of(first!));
  pieces.write('stderr', Buffer.from('x'));
  pieces.write('stdout', Buffer.from(rest));
  pieces.end();
  expect(seen).toEqual([
    ['stderr', 'x'],
    ['stdout', '漢'],
  ]);
});

it('gives pieces below 64 KiB that hold no half of a pair', () => {
  const { pieces, seen, text } = collect();
  const all = `a${'🙂'.repeat(40_000)}`;
  pieces.write('stdout', Buffer.from(all));
  pieces.end();
  expect(text()).toBe(all);
  expect(Math.max(...seen.map(([, one]) => Buffer.byteLength(one)))).toBeLessThan(65_536);
  expect(seen.every(([, one]) => one.isWellFormed())).toBe(true);
});

it('keeps the head when there is too much, and says so', () => {
  const { pieces, text } = collect(10);
  pieces.write('stdout', Buffer.from('0123456'));
  pieces.write('stdout', Buffer.from('789abcdef'));
  pieces.write('stdout', Buffer.from('more'));
  pieces.end();
  expect(text()).toBe('0123456789');
  expect(pieces.cut).toBe(true);
});

it('gives the replacement for a character that never ends', () => {
  const { pieces, text } = collect();
  pieces.write('stdout', Buffer.of(0xe6, 0xbc));
  pieces.end();
  expect(text()).toBe('\ufffd');
});
