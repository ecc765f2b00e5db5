import { textMessage } from '../packages/server/src/bridge/outbox.ts';
import { messageFrame } from '../packages/server/src/stream/frame.ts';

/** Frames that one stream sends in one tick: what a fast model says between two looks at the socket. */
export const FRAMES_PER_TICK = 64;
/** One delta: about a token. */
export const DELTA = ' token';
export const FRAME_BYTES = messageFrame(textMessage('textDelta', DELTA)).length;

/** Frames of one stream; the same in all, so that the work of a repetition is the same whatever the number of streams. */
export const framesOf = (streams: number): number =>
  Math.floor(1_280_000 / streams / FRAMES_PER_TICK) * FRAMES_PER_TICK;
