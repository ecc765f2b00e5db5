/** A field of a protobuf message as it stands on the wire, without knowing its schema. */
export interface WireField {
  number: number;
  /** 0 varint, 1 eight bytes, 2 a length and bytes, 5 four bytes. */
  type: 0 | 1 | 2 | 5;
  /** The value of types 1, 2 and 5; of type 0 its digits as they stand. */
  bytes: Uint8Array;
  /** Of type 2, when its bytes read as a message themselves. */
  fields?: WireField[];
}

const DEEPEST = 12;

/** Reads bytes as a message of any kind; undefined when they are none. */
export function readTree(bytes: Uint8Array, depth = 0): WireField[] | undefined {
  const fields: WireField[] = [];
  let at = 0;
  const varint = (): number | undefined => {
    const from = at;
    while (at < bytes.length && bytes[at]! >= 0x80) at++;
    at++;
    if (at > bytes.length || at - from > 10) return undefined;
    let value = 0;
    for (let digit = at - 1; digit >= from; digit--) value = value * 128 + (bytes[digit]! & 0x7f);
    return value;
  };
  while (at < bytes.length) {
    const tag = varint();
    if (tag === undefined) return undefined;
    const [number, type] = [Math.floor(tag / 8), tag % 8];
    if (number === 0 || (type !== 0 && type !== 1 && type !== 2 && type !== 5)) return undefined;
    let length = type === 1 ? 8 : 4;
    let from = at;
    if (type === 0) {
      if (varint() === undefined) return undefined;
      length = at - from;
    } else if (type === 2) {
      const said = varint();
      if (said === undefined) return undefined;
      length = said;
      from = at;
    }
    if (from + length > bytes.length) return undefined;
    at = from + length;
    const value = bytes.subarray(from, at);
    const inner = type === 2 && length > 1 && depth < DEEPEST ? readTree(value, depth + 1) : undefined;
    fields.push({ number, type, bytes: value, ...(inner ? { fields: inner } : {}) });
  }
  return fields;
}

/** The message that the fields are, lengths made right again. */
export function writeTree(fields: readonly WireField[]): Uint8Array {
  return Buffer.concat(
    fields.flatMap(({ number, type, bytes, fields: inner }) => {
      const value = inner ? writeTree(inner) : bytes;
      const tag = encodeSize(number * 8 + type);
      return type === 2 ? [tag, encodeSize(value.length), value] : [tag, value];
    }),
  );
}

function encodeSize(value: number): Uint8Array {
  return value < 128 ? Buffer.of(value) : encodeVarint(BigInt(value));
}

export function encodeVarint(value: bigint): Uint8Array {
  const digits: number[] = [];
  let left = BigInt.asUintN(64, value);
  do {
    digits.push(Number(left & 0x7fn) | (left > 0x7fn ? 0x80 : 0));
    left >>= 7n;
  } while (left > 0n);
  return Uint8Array.from(digits);
}
