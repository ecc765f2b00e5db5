import { fromBinary } from '@bufbuild/protobuf';
import type { DescMessage, JsonObject, JsonValue, Message } from '@bufbuild/protobuf';
import { EnvelopeReader, decodeAppend, toWireJson } from '@tandem/protocol';
import type { Envelope } from '@tandem/protocol';
import { AgentClientMessageSchema, AgentServerMessageSchema } from '@tandem/protocol/agent';
import { BidiRequestIdSchema } from '@tandem/protocol/aiserver';
import type { Encoding } from './decompression.ts';
import { decompress } from './decompression.ts';

/** What a frame became: its JSON, or why it has none. `where` says which frame of the body, for a person. */
export type InspectedFrame = { readonly where: string } & (
  | { readonly json: JsonObject }
  | { readonly problem: string }
);

export interface InspectOptions {
  /** How compressed frames are packed; undefined looks at each. */
  readonly encoding?: Encoding | undefined;
  /** Bytes are shown whole. */
  readonly full: boolean;
}

/** A body may be as long as a frame can say (§1.2); it is in memory already. */
const LONGEST_FRAME = 0xffff_ffff;
const ENVELOPE_HEAD = 5;

/**
 * The frames of an enveloped body: an answer of RunSSE, or its request. A frame that cannot be decoded does not hide those after it; where
 * the envelopes themselves are broken, the rest is lost and the last item says so.
 */
export function* inspectEnvelopes(
  body: Uint8Array,
  kind: 'sse' | 'request',
  options: InspectOptions,
): Generator<InspectedFrame> {
  const schema = kind === 'sse' ? AgentServerMessageSchema : BidiRequestIdSchema;
  const reader = new EnvelopeReader({ maxBytes: LONGEST_FRAME });
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  let number = 0;
  let endedAt: number | undefined;
  for (let at = 0; at < body.byteLength;) {
    number++;
    const where = `frame ${number}, at byte ${at}`;
    const size = at + ENVELOPE_HEAD <= body.byteLength ? ENVELOPE_HEAD + view.getUint32(at + 1) : ENVELOPE_HEAD;
    let envelope: Envelope | undefined;
    try {
      // one frame at a time: a broken one must not take those before it along
      [envelope] = reader.push(body.subarray(at, at + size));
      if (!envelope) reader.finish();
    } catch (error) {
      yield { where, problem: (error as Error).message };
      return;
    }
    if (!envelope) return;
    if (endedAt !== undefined) {
      yield { where, problem: `The stream ended with the frame at byte ${endedAt}, and nothing may follow it.` };
      return;
    }
    if (envelope.endStream) endedAt = at;
    try {
      yield { where, json: envelopeJson(schema, envelope, options) };
    } catch (error) {
      yield { where, problem: `It cannot be decoded: ${(error as Error).message}.` };
    }
    at += size;
  }
}

/** A BidiAppend. Its message stands in no envelope, so the flags are those of a plain frame and the length is that of the message. */
export function inspectAppend(body: Uint8Array, options: InspectOptions): InspectedFrame {
  try {
    const append = decodeAppend(body, { maxBytes: body.byteLength });
    const head = headOf({ flags: 0, length: append.bytes.byteLength });
    return {
      where: 'the append',
      json: {
        kind: kindOf(AgentClientMessageSchema, append.message),
        messageType: AgentClientMessageSchema.typeName,
        ...head,
        request_id: append.requestId,
        append_seqno: numberJson(append.seqno),
        message: toWireJson(AgentClientMessageSchema, append.message, options),
      },
    };
  } catch (error) {
    return { where: 'the append', problem: (error as Error).message };
  }
}

function envelopeJson(schema: DescMessage, envelope: Envelope, options: InspectOptions): JsonObject {
  const payload = envelope.compressed ? decompress(envelope.payload, options.encoding).bytes : envelope.payload;
  const head = headOf({ flags: envelope.flags, length: envelope.payload.byteLength });
  if (envelope.endStream) return { kind: 'end_stream', ...head, message: endJson(payload) };
  const message = fromBinary(schema, payload);
  return {
    kind: kindOf(schema, message),
    messageType: schema.typeName,
    ...head,
    message: toWireJson(schema, message, options),
  };
}

function headOf({ flags, length }: { flags: number; length: number }): JsonObject {
  return {
    flags: `0x${flags.toString(16).padStart(2, '0')}`,
    length,
    compressed: (flags & 1) !== 0,
    endStream: (flags & 2) !== 0,
  };
}

/** The branch that is set, by its name in the schema; a message without branches goes by its own name. */
function kindOf(schema: DescMessage, message: Message): string {
  const [oneof] = schema.oneofs;
  if (!oneof) return schema.name.replace(/(?<=[a-z])[A-Z]/g, letter => `_${letter}`).toLowerCase();
  const branch = (message as unknown as Record<string, { case?: string } | undefined>)[oneof.localName]?.case;
  return oneof.fields.find(field => field.localName === branch)?.name ?? 'unknown';
}

function endJson(payload: Uint8Array): JsonValue {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)) as JsonValue;
  } catch (error) {
    throw new Error(`an end frame holds JSON (§24), and this is none: ${(error as Error).message}`, { cause: error });
  }
}

function numberJson(number: bigint): number | string {
  return Number.isSafeInteger(Number(number)) ? Number(number) : number.toString();
}
