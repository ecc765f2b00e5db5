import { limits } from '@tandem/protocol';
import { FRAME_SLAB_BYTES } from '../limits.ts';
import type { Frame } from './frame.ts';

/** Writes the envelope head of a message that is not compressed; returns where the message begins (§1.2). */
export function openFrame(frame: Uint8Array, messageBytes: number): number {
  frame[0] = 0;
  frame[1] = messageBytes >>> 24;
  frame[2] = messageBytes >>> 16;
  frame[3] = messageBytes >>> 8;
  frame[4] = messageBytes;
  return limits.envelopeHeadBytes;
}

export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes++;
  return bytes;
}

export function writeVarint(frame: Uint8Array, at: number, value: number): number {
  let rest = value;
  while (rest > 0x7f) {
    frame[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  frame[at++] = rest;
  return at;
}

/** Frames above this have bytes of their own. */
const SMALL_FRAME_BYTES = 2 * 1024;

/** The slab that small frames are written into, one behind the other, and how far it is used. What was used is never written again. */
export const room = { slab: Buffer.alloc(0), used: 0 };

/** Makes sure that so many bytes fit behind what is used. */
export function makeRoom(bytes: number): void {
  if (room.used + bytes <= room.slab.length) return;
  room.slab = Buffer.alloc(FRAME_SLAB_BYTES);
  room.used = 0;
}

/** Bytes for a frame: of the slab for a small one, so that frames of one tick can be written as the one piece that they are. */
export function allocateFrame(bytes: number): Uint8Array {
  if (bytes > SMALL_FRAME_BYTES) return new Uint8Array(bytes);
  makeRoom(bytes);
  const frame = new Uint8Array(room.slab.buffer, room.used, bytes);
  room.used += bytes;
  return frame;
}

/** The single frames of pieces that hold whole frames. */
export function splitFrames(pieces: readonly Frame[]): Frame[] {
  const frames: Frame[] = [];
  for (const piece of pieces) {
    for (let from = 0; from < piece.length;) {
      const to = from + frameBytes(piece, from);
      frames.push(piece.subarray(from, to));
      from = to;
    }
  }
  return frames;
}

/** The length of the frame that begins at `from`, its head included. */
export function frameBytes(piece: Uint8Array, from = 0): number {
  const payload =
    ((piece[from + 1]! << 24) | (piece[from + 2]! << 16) | (piece[from + 3]! << 8) | piece[from + 4]!) >>> 0;
  return limits.envelopeHeadBytes + payload;
}

/** Frames from here up are written as they lie: joining them would copy more than a further piece of a write costs. */
const LARGE_FRAME_BYTES = 64 * 1024;

/**
 * Frames as few pieces: neighbours in a slab become one without a copy, other small ones are joined, a large one is a piece of its
 * own.
 */
export function joinFrames(frames: readonly Frame[]): Uint8Array[] {
  if (frames.length === 1) return [frames[0]!];
  const joined: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  const flush = () => {
    if (small.length > 0) joined.push(small.length === 1 ? small[0]! : Buffer.concat(small));
    small = [];
  };
  let at = 0;
  while (at < frames.length) {
    const first = frames[at++]!;
    let end = first.byteOffset + first.byteLength;
    for (; at < frames.length; at++) {
      const next = frames[at]!;
      if (next.buffer !== first.buffer || next.byteOffset !== end) break;
      end += next.byteLength;
    }
    const piece = new Uint8Array(first.buffer, first.byteOffset, end - first.byteOffset);
    if (piece.length >= LARGE_FRAME_BYTES) {
      flush();
      joined.push(piece);
    } else small.push(piece);
  }
  flush();
  return joined;
}
