/**
 * A client that does little more than is needed to keep a run going: it counts text deltas without decoding them, takes every
 * blob, keeps the last checkpoint, and brings its workspace along. So it can read some hundreds of streams in one process.
 */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { EnvelopeReader, blobKey, decodeEndStream, encodeAppend, encodeEnvelope } from '@tandem/protocol';
import { AgentClientMessageSchema, AgentServerMessageSchema } from '@tandem/protocol/agent';
import type { ConversationStateStructure, KvServerMessage } from '@tandem/protocol/agent';
import { BidiRequestIdSchema } from '@tandem/protocol/aiserver';
import { randomUUID } from 'node:crypto';
import { APPEND, RUN_SSE, fetchWhole, openCall, streamHeaders, unaryHeaders } from '../test/support/wire.ts';

/** The first tag of a root message with an update, and of an update with a text delta; the length between them is one byte. */
const FIELD_1 = 0x0a;
const MAX_BYTES = 256 * 1024 * 1024;

export interface LightRun {
  readonly url: string;
  readonly text: string;
  readonly model?: string;
  readonly conversationId?: string;
  readonly state?: ConversationStateStructure | undefined;
  /** Blobs by hex id; the server mostly has them itself. */
  readonly blobs?: Map<string, Uint8Array>;
  onDelta?(): void;
}

/** Works one turn to its end; resolves with the last checkpoint. */
export async function runLightly(run: LightRun): Promise<ConversationStateStructure | undefined> {
  const { url, onDelta, blobs = new Map<string, Uint8Array>() } = run;
  const requestId = randomUUID();
  const reader = new EnvelopeReader({ maxBytes: MAX_BYTES });
  let { state } = run;
  let failed: Error | undefined;
  let seqno = 0;
  const send = async (message: MessageInitShape<typeof AgentClientMessageSchema>['message']) => {
    const bytes = toBinary(AgentClientMessageSchema, create(AgentClientMessageSchema, { message }));
    const body = encodeAppend({ requestId, seqno: seqno++, bytes });
    const answered = await fetchWhole({ url, path: APPEND, headers: unaryHeaders(), body });
    if (answered.status !== 200) failed ??= new Error(`an append was answered with ${answered.status}`);
  };
  const answerKv = ({ id, message }: KvServerMessage) => {
    if (message.case === 'setBlobArgs') {
      blobs.set(blobKey(message.value.blobId), Uint8Array.from(message.value.blobData));
      void send({ case: 'kvClientMessage', value: { id, message: { case: 'setBlobResult', value: {} } } });
    } else if (message.case === 'getBlobArgs') {
      const blobData = blobs.get(blobKey(message.value.blobId));
      const value = blobData ? { blobData } : {};
      void send({ case: 'kvClientMessage', value: { id, message: { case: 'getBlobResult', value } } });
    }
  };
  const read = (payload: Uint8Array, endStream: boolean) => {
    if (endStream) {
      failed ??= decodeEndStream(payload).fault;
      return;
    }
    if (payload[0] === FIELD_1 && payload[2] === FIELD_1) {
      onDelta?.();
      return;
    }
    const { message } = fromBinary(AgentServerMessageSchema, payload);
    if (message.case === 'kvServerMessage') answerKv(message.value);
    else if (message.case === 'conversationCheckpointUpdate') state = message.value;
  };
  const call = openCall({
    url,
    path: RUN_SSE,
    headers: streamHeaders(),
    onData: chunk => {
      for (const { payload, endStream } of reader.push(chunk)) read(payload, endStream);
    },
  });
  call.end(encodeEnvelope(toBinary(BidiRequestIdSchema, create(BidiRequestIdSchema, { requestId }))));
  await call.head;
  await send({
    case: 'runRequest',
    value: {
      conversationState: state ?? {},
      conversationId: run.conversationId ?? requestId,
      runId: requestId,
      requestedModel: { modelId: run.model ?? 'test-model' },
      action: {
        action: {
          case: 'userMessageAction',
          value: { userMessage: { text: run.text }, requestContext: { env: { workspacePaths: ['/work'] } } },
        },
      },
    },
  });
  await call.closed;
  if (failed) throw failed;
  return state;
}
