import { create, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import type { DescMessage, JsonValue, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { encodeEnvelope, fault, limits } from '@tandem/protocol';
import type { Code, Fault } from '@tandem/protocol';
import { COMPRESS_TO_BYTES } from '../limits.ts';
import { bearerOf } from './bearer.ts';
import { readBody } from './body.ts';
import { chooseCodec, packBytes } from './frame-writer.ts';
import type { Request, Response } from './listen.ts';
import { reply } from './reply.ts';
import type { RouteContext } from './routes.ts';

/** One unary RPC: what comes in, what goes out, and what it does. */
export interface Unary<In extends DescMessage, Out extends DescMessage> {
  readonly input: In;
  readonly output: Out;
  handle(
    message: MessageShape<In>,
    caller: { owner: string; request: Request },
    context: RouteContext,
  ): Promise<MessageInitShape<Out>> | MessageInitShape<Out>;
}

type Wire = 'proto' | 'json' | 'grpc-web';

/** The flag of the frame that says how a gRPC-web call went. */
const GRPC_WEB_TRAILERS = 0x80;

const GRPC_WEB = /^application\/grpc-web(\+proto)?\s*(;|$)/;

/** The forms of one call that are taken: Connect with protobuf or JSON, and gRPC-web. */
function wireOf(type: string): Wire {
  if (/^application\/proto\s*(;|$)/.test(type)) return 'proto';
  if (/^application\/json\s*(;|$)/.test(type)) return 'json';
  if (GRPC_WEB.test(type)) return 'grpc-web';
  throw fault(
    'wrong_content_type',
    `This call takes application/proto, application/json or application/grpc-web+proto, not ${JSON.stringify(type)}.`,
  );
}

/** Makes the route of a unary RPC. */
export function unary<In extends DescMessage, Out extends DescMessage>(call: Unary<In, Out>) {
  return async (request: Request, response: Response, context: RouteContext): Promise<void> => {
    const { owner } = context.authenticator.authenticate(bearerOf(request));
    const wire = wireOf(String(request.headers['content-type'] ?? ''));
    const body = await readBody(request, context.messageBytes, context.clock);
    const message = readMessage(call.input, wire === 'grpc-web' ? grpcWebPayload(body) : body, wire);
    const answer = create(call.output, await call.handle(message, { owner, request }, context));
    send(request, response, call.output, answer, wire);
  };
}

function readMessage<In extends DescMessage>(schema: In, body: Uint8Array, wire: Wire): MessageShape<In> {
  try {
    if (wire !== 'json') return fromBinary(schema, body);
    const text = Buffer.from(body).toString('utf8');
    return fromJson(schema, JSON.parse(text === '' ? '{}' : text) as JsonValue, { ignoreUnknownFields: true });
  } catch (cause) {
    throw fault('malformed_message', `The body is no ${schema.name}${wire === 'json' ? ' in protobuf JSON' : ''}.`, {
      cause,
    });
  }
}

function send<Out extends DescMessage>(
  request: Request,
  response: Response,
  schema: Out,
  answer: MessageShape<Out>,
  wire: Wire,
): void {
  const plain = wire === 'json' ? Buffer.from(JSON.stringify(toJson(schema, answer))) : toBinary(schema, answer);
  if (wire === 'grpc-web') {
    reply(
      response,
      200,
      'application/grpc-web+proto',
      Buffer.concat([encodeEnvelope(plain), encodeEnvelope(Buffer.from('grpc-status: 0\r\n'), GRPC_WEB_TRAILERS)]),
    );
    return;
  }
  const isWorthIt = plain.length >= limits.compressFromBytes && plain.length <= COMPRESS_TO_BYTES;
  const codec = isWorthIt ? chooseCodec(request.headers['accept-encoding']) : 'identity';
  if (codec !== 'identity') response.setHeader('content-encoding', codec);
  const body = codec === 'identity' ? plain : packBytes(plain, codec);
  reply(response, 200, wire === 'json' ? 'application/json' : 'application/proto', body);
}

/** Whether a request is one of gRPC-web, whose answer is always HTTP 200: how it went stands in the last frame. */
export function isGrpcWeb(request: Request): boolean {
  return GRPC_WEB.test(String(request.headers['content-type'] ?? ''));
}

/** The numbers of gRPC for the codes that Connect has names for: their order, from 1. */
const GRPC_CODES: readonly Code[] = [
  'canceled',
  'unknown',
  'invalid_argument',
  'deadline_exceeded',
  'not_found',
  'already_exists',
  'permission_denied',
  'resource_exhausted',
  'failed_precondition',
  'aborted',
  'out_of_range',
  'unimplemented',
  'internal',
  'unavailable',
  'data_loss',
  'unauthenticated',
];

/** Answers a gRPC-web call with what went wrong; the text is percent-encoded, as trailers are. */
export function replyGrpcWebFault(response: Response, { code, detail }: Fault): void {
  const trailers = `grpc-status: ${GRPC_CODES.indexOf(code) + 1}\r\ngrpc-message: ${encodeURIComponent(detail.toWellFormed())}\r\n`;
  reply(response, 200, 'application/grpc-web+proto', encodeEnvelope(Buffer.from(trailers), GRPC_WEB_TRAILERS));
}

function grpcWebPayload(body: Uint8Array): Uint8Array {
  const length = body.length < 5 ? -1 : Buffer.from(body.buffer, body.byteOffset, 5).readUInt32BE(1);
  if (length < 0 || body.length < 5 + length || (body[0]! & 1) !== 0) {
    throw fault('malformed_message', 'The body is no uncompressed gRPC-web frame.');
  }
  return body.subarray(5, 5 + length);
}
