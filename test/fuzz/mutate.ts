import type { Dice } from './dice.ts';
import { encodeVarint, readTree, writeTree } from './wire-tree.ts';
import type { WireField } from './wire-tree.ts';

const NUMBERS = [
  0n,
  1n,
  2n,
  127n,
  128n,
  255n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 1n,
];
const TEXTS = [
  '',
  '\0',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '\u202e',
  '%s%n',
  '{"a":',
  '[[[[[[[[',
  'x'.repeat(5_000),
].map(text => Buffer.from(text));
/** No UTF-8, one half of a character, a byte order mark in the wrong order, 32 bytes as an id has them. */
const BYTES = [
  Buffer.of(0xff),
  Buffer.of(0xc3),
  Buffer.of(0xed, 0xa0, 0x80),
  Buffer.of(0xff, 0xfe),
  Buffer.alloc(32, 7),
];
const TYPES = [0, 1, 2, 5] as const;

/**
 * A message that is like the given one and different: fields dropped, doubled, moved, renumbered, retyped, filled with the extremes of
 * their kind or with parts of other messages, nested in themselves; sometimes bytes are changed without regard to any structure.
 * @param others messages to take parts from
 */
export function mutate(message: Uint8Array, others: readonly Uint8Array[], dice: Dice): Uint8Array {
  const tree = dice.once(8) ? undefined : readTree(message);
  if (!tree) return mutateBytes(message, dice);
  for (let change = 1 + dice.roll(4); change > 0; change--) mutateFields(choose(tree, dice), others, dice);
  const written = writeTree(tree);
  return dice.once(10) ? mutateBytes(written, dice) : written;
}

/** A list of fields somewhere in the tree, deep ones as likely as shallow ones. */
function choose(fields: WireField[], dice: Dice): WireField[] {
  let at = fields;
  for (;;) {
    const inner = at.flatMap(field => (field.fields ? [field.fields] : []));
    if (inner.length === 0 || dice.once(3)) return at;
    at = dice.pick(inner);
  }
}

function mutateFields(fields: WireField[], others: readonly Uint8Array[], dice: Dice): void {
  const at = fields.length === 0 ? 0 : dice.roll(fields.length);
  const field = fields[at];
  switch (field ? dice.roll(10) : 7) {
    case 0:
      fields.splice(at, 1);
      break;
    case 1:
      fields.splice(dice.roll(fields.length + 1), 0, copyField(field!));
      break;
    case 2:
      fields.splice(dice.roll(fields.length), 0, ...fields.splice(at, 1));
      break;
    case 3:
      field!.number = dice.once(4) ? dice.pick([1, 2 ** 29 - 1, 19_000, 536]) : 1 + dice.roll(40);
      break;
    case 4:
      fields[at] = { number: field!.number, type: dice.pick(TYPES), bytes: Buffer.alloc(8, field!.bytes[0] ?? 1) };
      if (fields[at].type === 0) fields[at].bytes = encodeVarint(dice.pick(NUMBERS));
      if (fields[at].type === 5) fields[at].bytes = Buffer.alloc(4, 0xff);
      break;
    case 5:
    case 6:
      fillField(field!, dice);
      break;
    case 7: {
      const other = readTree(dice.pick(others)) ?? [];
      const from = choose(other, dice);
      if (from.length > 0) fields.splice(at, 0, copyField(dice.pick(from)));
      break;
    }
    case 8:
      nest(field!, 1 + dice.roll(150));
      break;
    case 9:
      for (let more = dice.roll(20); more > 0; more--) fields.push(copyField(field!));
      break;
  }
}

/** The same field again; bytes are never changed in place, so both may have them. */
function copyField(field: WireField): WireField {
  return field.fields ? { ...field, fields: field.fields.map(copyField) } : { ...field };
}

function fillField(field: WireField, dice: Dice): void {
  delete field.fields;
  if (field.type === 0) field.bytes = encodeVarint(dice.pick(NUMBERS));
  else if (field.type === 2) field.bytes = dice.pick(dice.once(3) ? BYTES : TEXTS);
  else
    field.bytes = dice
      .pick([Buffer.alloc(8, 0xff), Buffer.alloc(8), Buffer.from('7ff0000000000001', 'hex')])
      .subarray(0, field.type === 1 ? 8 : 4);
}

/** Puts a field into fields of its own number, as recursive messages are. */
function nest(field: WireField, depth: number): void {
  if (field.type !== 2) return;
  let bytes = field.fields ? writeTree(field.fields) : field.bytes;
  for (let level = 0; level < depth && bytes.length < 20_000; level++)
    bytes = writeTree([{ number: field.number, type: 2, bytes }]);
  delete field.fields;
  field.bytes = bytes;
}

/** Changes that know nothing of what the bytes mean. */
export function mutateBytes(message: Uint8Array, dice: Dice): Uint8Array {
  let bytes = Buffer.from(message);
  for (let change = 1 + dice.roll(6); change > 0; change--) {
    const at = bytes.length === 0 ? 0 : dice.roll(bytes.length);
    switch (bytes.length === 0 ? 2 : dice.roll(5)) {
      case 0:
        bytes[at] = dice.roll(256);
        break;
      case 1:
        bytes[at] = bytes[at]! ^ (1 << dice.roll(8));
        break;
      case 2:
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from(Array.from({ length: 1 + dice.roll(8) }, () => dice.roll(256))),
          bytes.subarray(at),
        ]);
        break;
      case 3:
        bytes = bytes.subarray(0, at);
        break;
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + 1 + dice.roll(20)))]);
        break;
    }
  }
  return bytes;
}
