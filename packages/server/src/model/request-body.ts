import { breathe } from '../breathe.ts';

/** Values with fewer characters than this are written in one go, and longer strings in pieces of it. */
const PIECE_CHARACTERS = 512 * 1024;

/**
 * A request body as JSON: the text that `JSON.stringify` gives, or its UTF-8 when it is long. A conversation may have grown to many
 * megabytes; it is written piece by piece, and the loop turns between them.
 */
export async function writeRequestBody(body: unknown): Promise<string | Uint8Array> {
  if (!isLong(body)) return JSON.stringify(body);
  const pieces: Buffer[] = [];
  let unbreathed = 0;
  for (const piece of jsonPieces(body)) {
    const bytes = Buffer.from(piece);
    pieces.push(bytes);
    unbreathed += bytes.length;
    const pause = breathe(unbreathed);
    if (!pause) continue;
    await pause;
    unbreathed = 0;
  }
  return Buffer.concat(pieces);
}

/** The JSON of a value in pieces of bounded length; what JSON leaves out of objects is left out. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (!isLong(value)) {
    yield JSON.stringify(value) ?? 'null';
  } else if (typeof value === 'string') {
    yield '"';
    for (let from = 0; from < value.length;) {
      const to = pieceEnd(value, from);
      yield JSON.stringify(value.slice(from, to)).slice(1, -1);
      from = to;
    }
    yield '"';
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield index === 0 ? '[' : ',';
      yield* jsonPieces(item);
    }
    yield ']';
  } else {
    const entries = Object.entries(value as object).filter(([, item]) => item !== undefined);
    for (const [index, [key, item]] of entries.entries()) {
      yield `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`;
      yield* jsonPieces(item);
    }
    yield '}';
  }
}

/** Where a piece of a string ends: never between the halves of a character. */
function pieceEnd(text: string, from: number): number {
  const to = from + PIECE_CHARACTERS;
  if (to >= text.length) return text.length;
  const last = text.charCodeAt(to - 1);
  return last >= 0xd800 && last <= 0xdbff ? to - 1 : to;
}

const isLong = (value: unknown): boolean => charactersLeft(value, PIECE_CHARACTERS) < 0;

/** What is left of so many characters after the strings of a value; counting stops where they are used up. */
function charactersLeft(value: unknown, left: number): number {
  if (typeof value === 'string') return left - value.length;
  if (typeof value !== 'object' || value === null) return left;
  for (const item of Object.values(value)) {
    if (left < 0) return left;
    left = charactersLeft(item, left);
  }
  return left;
}
