import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { AgentClientMessageSchema } from './agent.ts';

it('[§23-unknown-fields-kept] keeps fields that the schema does not know, at the root and inside, through decode and encode', () => {
  // client_heartbeat { 1000: 7 }, 2000: "x"
  const wire = Uint8Array.of(0x3a, 0x03, 0xc0, 0x3e, 0x07, 0x82, 0x7d, 0x01, 0x78);
  const message = fromBinary(AgentClientMessageSchema, wire);
  expect(message.message.case).toBe('clientHeartbeat');
  expect(toBinary(AgentClientMessageSchema, message)).toEqual(wire);
});
