import { toBinary } from '@bufbuild/protobuf';
import { FLAG_END_STREAM, encodeEndStream, encodeEnvelope } from '@tandem/protocol';
import type { Fault } from '@tandem/protocol';
import { AgentServerMessageSchema } from '@tandem/protocol/agent';
import type { AgentServerMessage } from '@tandem/protocol/agent';
import { updateMessage } from '../bridge/outbox.ts';
import { blobFrame } from './blob-frame.ts';
import { deltaFrame } from './delta-frame.ts';

/** One message as it goes out, header and payload in one piece, encoded once (§1.2). */
export type Frame = Uint8Array;

export function messageFrame(message: AgentServerMessage): Frame {
  const frame = handWritten(message);
  return frame ?? encodeEnvelope(toBinary(AgentServerMessageSchema, message));
}

function handWritten({ message, $unknown, ttftBreakdown }: AgentServerMessage): Frame | undefined {
  if ($unknown || ttftBreakdown) return undefined;
  if (message.case === 'interactionUpdate') return deltaFrame(message.value);
  return message.case === 'kvServerMessage' ? blobFrame(message.value) : undefined;
}

export function endFrame(fault: Fault | undefined): Frame {
  return encodeEnvelope(encodeEndStream(fault), FLAG_END_STREAM);
}

/** `interaction_update.heartbeat`: says that the stream lives and nothing else (§16.4). */
export const heartbeatFrame: Frame = messageFrame(
  updateMessage({ case: 'heartbeat', value: { $typeName: 'agent.v1.HeartbeatUpdate' } }),
);
