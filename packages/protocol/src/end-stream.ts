import { create, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import type { JsonValue } from '@bufbuild/protobuf';
import { base64Decode, base64Encode } from '@bufbuild/protobuf/wire';
import { ErrorDetailsSchema } from '../gen/aiserver/v1/errors_pb.js';
import type { ErrorDetails } from '../gen/aiserver/v1/errors_pb.js';
import { codeOfStatus, isCode, statusOfCode } from './code.ts';
import type { Code } from './code.ts';
import type { Fault } from './fault.ts';
import { fault } from './fault.ts';
import { limits } from './limits.ts';

/** How a stream ended: no fault means success (R53). `metadata` are the trailers, name to values. */
export interface EndStream {
  metadata: Record<string, string[]>;
  fault: Fault | undefined;
}

/** An error as Connect writes it, in end frames and in unary answers. */
interface ErrorJson {
  code: Code;
  message: string;
  details: { type: string; value: string; debug: JsonValue }[];
}

/**
 * The codes after which another try may help when the other side said nothing about it. A client has to guess there
 * (R54); these three are about the connection and not about the request.
 */
const transient: ReadonlySet<Code> = new Set<Code>(['unavailable', 'deadline_exceeded', 'aborted']);

const encoder = new TextEncoder();

/** The payload of an end frame: JSON on every stream, whatever the codec of its messages (§24, R3, R54). */
export function encodeEndStream(failure?: Fault): Uint8Array {
  return encoder.encode(failure === undefined ? '{}' : JSON.stringify({ error: errorToJson(failure) }));
}

/**
 * Reads the payload of an end frame. Never throws: a payload that is not readable is itself a fault, since nobody can say
 * that such a stream ended well.
 */
export function decodeEndStream(payload: Uint8Array): EndStream {
  const json = parseJson(payload);
  if (!isRecord(json)) {
    const size = `${payload.byteLength} bytes`;
    return { metadata: {}, fault: fault('malformed_message', `The end frame holds no JSON object (${size}).`) };
  }
  return {
    metadata: readMetadata(json['metadata']),
    fault: json['error'] === undefined || json['error'] === null ? undefined : errorFromJson(json['error'], 'unknown'),
  };
}

/** The answer to a unary RPC that failed: HTTP status and JSON body (`application/json`). */
export function encodeUnaryError(failure: Fault): { status: number; body: Uint8Array } {
  return { status: statusOfCode(failure.code), body: encoder.encode(JSON.stringify(errorToJson(failure))) };
}

/** Reads the answer of a unary RPC that failed; a body that is not an error leaves the status alone to say why. */
export function decodeUnaryError(status: number, body: Uint8Array): Fault {
  const code = codeOfStatus(status);
  const json = body.byteLength <= limits.errorBodyBytes ? parseJson(body) : undefined;
  if (isRecord(json) && (typeof json['code'] === 'string' || typeof json['message'] === 'string')) {
    return errorFromJson(json, code);
  }
  return fault('reported', `The server answered HTTP ${status}.`, {
    code,
    retryable: transient.has(code),
    title: `HTTP ${status}`,
  });
}

function errorToJson(failure: Fault): ErrorJson {
  const detail = create(ErrorDetailsSchema, {
    error: failure.error,
    details: {
      title: failure.title,
      detail: failure.detail,
      isRetryable: failure.retryable,
      showRequestId: failure.code !== 'canceled', // who asks what went wrong needs the id of the request (F88)
      additionalInfo: failure.additionalInfo,
    },
  });
  return {
    code: failure.code,
    message: failure.detail,
    details: [
      {
        type: ErrorDetailsSchema.typeName,
        value: base64Encode(toBinary(ErrorDetailsSchema, detail), 'std_raw'),
        debug: toJson(ErrorDetailsSchema, detail),
      },
    ],
  };
}

function errorFromJson(json: unknown, fallback: Code): Fault {
  const record = isRecord(json) ? json : {};
  const code = isCode(record['code']) ? record['code'] : fallback;
  const message = typeof record['message'] === 'string' ? record['message'] : '';
  const found = readDetail(record['details']);
  const words = found?.details;
  return fault('reported', words?.detail || message || `The other side reported ${code} without a text.`, {
    code,
    retryable: words?.isRetryable ?? transient.has(code),
    ...(found === undefined ? {} : { error: found.error }),
    ...(words?.title ? { title: words.title } : {}),
    ...(words === undefined ? {} : { additionalInfo: { ...words.additionalInfo } }),
  });
}

/** The first detail that we know and can read; the others belong to someone else. */
function readDetail(details: unknown): ErrorDetails | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const entry of details) {
    if (!isRecord(entry) || typeof entry['value'] !== 'string' || typeof entry['type'] !== 'string') continue;
    // Some servers write the type as a URL.
    if (entry['type'].slice(entry['type'].lastIndexOf('/') + 1) !== ErrorDetailsSchema.typeName) continue;
    try {
      return fromBinary(ErrorDetailsSchema, base64Decode(entry['value']));
    } catch {
      // The code and the message still say what happened; a broken detail must not hide them.
      continue;
    }
  }
  return undefined;
}

function readMetadata(json: unknown): Record<string, string[]> {
  if (!isRecord(json)) return {};
  const entries = Object.entries(json).map(([name, values]): [string, string[]] => {
    const list: unknown[] = Array.isArray(values) ? values : [values];
    return [name.toLowerCase(), list.filter(value => typeof value === 'string')];
  });
  return Object.fromEntries(entries);
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Not JSON: the callers say so in their own words.
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
