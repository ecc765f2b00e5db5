import { toBinary } from '@bufbuild/protobuf';
import { encodeEnvelope } from '@tandem/protocol';
import { ConversationStateStructureSchema } from '@tandem/protocol/agent';
import { expect, it } from 'vitest';
import { collectRun, startHouse } from '../run-house.ts';

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}
/** A field of bytes, as it stands on the wire. */
const field = (number: number, payload: Uint8Array | number[]) => [
  ...varint(number * 8 + 2),
  ...varint(payload.length),
  ...payload,
];
const id = (number: number) => [8, ...varint(number)];
/** What only a newer schema knows. */
const NEW = field(4_000, Buffer.from('of a newer schema'));

it('[§24-close-is-no-success] branches and fields of a newer schema do no harm in any message, and what asks is answered', async () => {
  const { client, server } = await startHouse(async stream => {
    const request = await stream.runRequest();
    if (stream.index > 0) {
      const state = Buffer.from(toBinary(ConversationStateStructureSchema, request.conversationState!));
      expect(state.includes('of a newer schema')).toBe(true);
      return stream.finish('resumed');
    }
    const send = (...message: number[][]) => stream.write(encodeEnvelope(Uint8Array.from(message.flat())));
    send(NEW); // AgentServerMessage
    send(field(1, NEW)); // InteractionUpdate
    send(field(1, field(2, [...field(1, Buffer.from('call-1')), ...field(2, NEW)]))); // a card in ToolCallStartedUpdate
    send(field(1, [...field(1, field(1, Buffer.from('text'))), ...NEW])); // beside a branch that is known
    send(field(2, [...id(9), ...NEW])); // ExecServerMessage
    send(field(4, [...id(10), ...NEW])); // KvServerMessage
    send(field(5, NEW)); // ExecServerControlMessage
    send(field(7, [...id(11), ...NEW])); // InteractionQuery
    send(field(3, NEW)); // ConversationStateStructure
    const heard = await stream.until('an answer to each', all => {
      const kv = all.find(one => one.case === 'kvClientMessage');
      const query = all.find(one => one.case === 'interactionResponse');
      const closed = stream.heard(9).control;
      return kv !== undefined && query !== undefined && closed.length === 2 && { kv, query, closed };
    });
    expect(heard).toMatchObject({
      kv: { value: { id: 10, message: { case: undefined } } },
      query: { value: { id: 11, result: { case: undefined } } },
      closed: [
        { case: 'throw', value: { error: 'this client does not know the kind of exec that was asked for' } },
        { case: 'streamClose' },
      ],
    });
    stream.cut();
  });
  const { events, end } = await collectRun(client.run({ prompt: 'Go.' }));
  expect([end.outcome, server.streams.length]).toEqual(['ended', 2]);
  expect(events.filter(event => event.type === 'text').map(event => event.text)).toEqual(['text', 'resumed']);
  expect(events.find(event => event.type === 'tool')).toMatchObject({ id: 'call-1', name: '', status: 'running' });
});
