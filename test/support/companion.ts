import { create, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import type { DescMessage, JsonValue, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { AgentService } from '@tandem/protocol/agent';
import { fetchWhole, unaryHeaders } from './wire.ts';
import type { Transport } from './wire.ts';

/** The forms in which a unary call may come. */
export type Form = 'proto' | 'json' | 'grpc-web';
export const forms: readonly Form[] = ['proto', 'json', 'grpc-web'];

export const contentTypes: Readonly<Record<Form, string>> = {
  proto: 'application/proto',
  json: 'application/json',
  'grpc-web': 'application/grpc-web+proto',
};

type Methods = typeof AgentService.method;
/** The unary methods of the service. */
export type Method = {
  [name in keyof Methods]: Methods[name] extends { methodKind: 'unary' } ? name : never;
}[keyof Methods];

/** Where and how calls go. */
export interface Caller {
  readonly url: string;
  readonly transport?: Transport;
  readonly form?: Form;
  readonly headers?: Record<string, string>;
}

/** What came back: a message, or what went wrong by its code (its number in gRPC-web). */
export interface Told {
  readonly status: number;
  readonly code: string;
  readonly text: string;
}

/** Calls a companion and gives its answer; one that refuses fails the test with its words. */
export async function callCompanion<Name extends Method>(
  caller: Caller,
  name: Name,
  message: MessageInitShape<Methods[Name]['input']>,
): Promise<MessageShape<Methods[Name]['output']>> {
  const told = await tryCompanion(caller, name, message);
  if ('answer' in told) return told.answer;
  throw new Error(`${name} answered ${told.status} ${told.code}: ${told.text}`);
}

/** Calls a companion that may refuse. */
export async function tryCompanion<Name extends Method>(
  caller: Caller,
  name: Name,
  message: MessageInitShape<Methods[Name]['input']>,
): Promise<{ answer: MessageShape<Methods[Name]['output']> } | Told> {
  const { input, output } = AgentService.method[name] as unknown as { input: DescMessage; output: DescMessage };
  const form = caller.form ?? 'proto';
  const request = create(input, message as MessageInitShape<DescMessage>);
  const plain =
    form === 'json' ? Buffer.from(JSON.stringify(toJson(input, request))) : Buffer.from(toBinary(input, request));
  const told = await callRaw(caller, name, form === 'grpc-web' ? grpcWebFrame(plain) : plain);
  if (!('body' in told)) return told;
  const answer =
    form === 'json' ? fromJson(output, JSON.parse(told.body.toString()) as JsonValue) : fromBinary(output, told.body);
  return { answer: answer as MessageShape<Methods[Name]['output']> };
}

/** Sends a body as it is; gives the message of the answer as bytes, or what went wrong. */
export async function callRaw(
  { url, transport = 'h1', form = 'proto', headers }: Caller,
  name: Method,
  body: Uint8Array,
): Promise<{ body: Buffer } | Told> {
  const got = await fetchWhole({
    url,
    transport,
    path: `/agent.v1.AgentService/${AgentService.method[name].name}`,
    headers: unaryHeaders({ 'content-type': contentTypes[form], ...headers }),
    body,
  });
  const { status } = got;
  if (form !== 'grpc-web') {
    if (status === 200) return { body: got.body };
    const { code, message } = JSON.parse(got.body.toString()) as { code: string; message: string };
    return { status, code, text: message };
  }
  const length = got.body.readUInt32BE(1);
  const isTrailer = got.body[0] === 0x80;
  const trailers = got.body.toString('latin1', isTrailer ? 5 : 10 + length);
  const code = /^grpc-status: (\d+)\r$/m.exec(trailers)?.[1] ?? 'none';
  if (code === '0') return { body: got.body.subarray(5, 5 + length) };
  return { status, code, text: decodeURIComponent(/^grpc-message: (.*)\r$/m.exec(trailers)?.[1] ?? '') };
}

export function grpcWebFrame(payload: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}
