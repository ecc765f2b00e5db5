import type { ModelEvent, ModelInfo, ModelRequest, Usage } from '../port.ts';
import type { Quirks } from '../quirks.ts';
import type { ServerSentEvent } from '../server-sent-events.ts';

/** A failure that the provider reported inside its answer; what is made of it depends on what was shown before. */
export interface StreamError {
  type: 'error';
  error: unknown;
}

/** What decides how one request looks to one model. */
export interface WireTarget {
  readonly info: ModelInfo;
  /** The longest answer to ask for; undefined lets the provider decide where it may. */
  readonly maxOutput: number | undefined;
  readonly quirks: Quirks;
  /** True on the one retry after the provider refused reasoning that was sent back: none is (P02). */
  readonly withoutReasoning: boolean;
}

/** Reads one answer event by event. */
export interface AnswerReader {
  /** True once nothing more can come, whether or not the provider closes the connection. */
  readonly isDone: boolean;
  /** What the provider told of its tokens before the end; those that tell them at the end leave it out. */
  readonly toldUsage?: Usage | undefined;
  /** What one event means; events and fields that nobody knows mean nothing. */
  push(event: ServerSentEvent): (ModelEvent | StreamError)[];
  /** What the end of the body adds: calls that are still open, and the `finish`. */
  finish(): ModelEvent[];
}

/** Cuts the bytes of an answer into events. */
export interface EventDecoder {
  /** The events that these bytes completed. @throws RangeError when one is longer than the limit, Error when bytes are damaged. */
  push(bytes: Uint8Array): ServerSentEvent[];
  /** The event that the end of the body completes, if any. */
  finish(): ServerSentEvent[];
}

/** A native wire of a provider: how a request is written, and how its answer is read. */
export interface Wire {
  /** The path of a streaming call below the base URL, its query included. */
  pathOf(modelId: string): string;
  /** The body of a call, not yet encoded. Its beginning is that of the call before it (R47), marks of the cache aside. */
  bodyOf(request: ModelRequest, target: WireTarget): Record<string, unknown>;
  startAnswer(info: ModelInfo): AnswerReader;
  /** For bodies that are no text/event-stream. */
  startDecoder?(): EventDecoder;
}
