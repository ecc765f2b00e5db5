import { limits } from '@tandem/protocol';
import type { InteractionUpdate } from '@tandem/protocol/agent';
import type { TextBranch } from '../bridge/outbox.ts';
import type { Frame } from './frame.ts';
import { allocateFrame, makeRoom, openFrame, room, varintBytes, writeVarint } from './frame-bytes.ts';

const HEAD = limits.envelopeHeadBytes;
/** Field 1 with a length: `interaction_update` of the root message, `text_delta` of an update, and `text` of both deltas. */
const FIELD_1 = 0x0a;
/** Field 4 with a length: `thinking_delta` of an update. */
const FIELD_4 = 0x22;
/** Up to here a loop beats a call into native code. */
const SHORT_TEXT = 64;
const LAST_ASCII = 0x7f;
/** What stands before a short text: the envelope head, then three tags with lengths of one byte each. */
const SHORT_HEAD = HEAD + 6;

/**
 * The frame of the two messages that make up nearly all of a stream, `text_delta` and `thinking_delta`, written by hand: about ten
 * times as fast as by reflection. Undefined when the update is another one or says more than a text; the generated code has it then.
 */
export function deltaFrame(update: InteractionUpdate): Frame | undefined {
  if (update.$unknown) return undefined;
  const { message } = update;
  if (message.case === 'textDelta') {
    const { text, isServerNotice, $unknown } = message.value;
    return isServerNotice || $unknown ? undefined : textFrame(FIELD_1, text);
  }
  if (message.case === 'thinkingDelta') {
    const { text, thinkingStyle, $unknown } = message.value;
    return thinkingStyle !== undefined || $unknown ? undefined : textFrame(FIELD_4, text);
  }
  return undefined;
}

/**
 * Writes the frame of a short ASCII text behind what is used of the slab, without making an object for it; returns its bytes, or 0
 * when the text is another one. Nearly all of a stream goes through here.
 */
export function writeShortText(branch: TextBranch, text: string): number {
  const { length } = text;
  if (length === 0 || length > SHORT_TEXT) return 0;
  makeRoom(SHORT_HEAD + SHORT_TEXT);
  const { slab, used } = room;
  let at = used + SHORT_HEAD;
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > LAST_ASCII) return 0;
    slab[at++] = unit;
  }
  // all of the head: a text that was given up half way may have left its letters here
  slab[used] = slab[used + 1] = slab[used + 2] = slab[used + 3] = 0;
  slab[used + 4] = length + 6;
  slab[used + 5] = FIELD_1;
  slab[used + 6] = length + 4;
  slab[used + 7] = branch === 'textDelta' ? FIELD_1 : FIELD_4;
  slab[used + 8] = length + 2;
  slab[used + 9] = FIELD_1;
  slab[used + 10] = length;
  room.used = at;
  return at - used;
}

/** Envelope head, root message, update, delta, text: each a tag and a length around the next. */
function textFrame(branch: number, text: string): Frame {
  const textBytes = byteLengthOf(text);
  const deltaBytes = textBytes === 0 ? 0 : 1 + varintBytes(textBytes) + textBytes;
  const updateBytes = 1 + varintBytes(deltaBytes) + deltaBytes;
  const messageBytes = 1 + varintBytes(updateBytes) + updateBytes;
  const frame = allocateFrame(HEAD + messageBytes);
  let at = openFrame(frame, messageBytes);
  frame[at++] = FIELD_1;
  at = writeVarint(frame, at, updateBytes);
  frame[at++] = branch;
  at = writeVarint(frame, at, deltaBytes);
  if (textBytes === 0) return frame;
  frame[at++] = FIELD_1;
  at = writeVarint(frame, at, textBytes);
  if (textBytes === text.length && textBytes <= SHORT_TEXT) {
    for (let i = 0; i < textBytes; i++) frame[at + i] = text.charCodeAt(i);
  } else {
    encoder.encodeInto(text, frame.subarray(at));
  }
  return frame;
}

const encoder = new TextEncoder();

function byteLengthOf(text: string): number {
  if (text.length > SHORT_TEXT) return Buffer.byteLength(text);
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return Buffer.byteLength(text);
  return text.length;
}
