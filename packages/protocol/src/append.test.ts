import { create, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentClientMessageSchema } from './agent.ts';
import { BidiAppendRequestSchema } from './aiserver.ts';
import { decodeAppend, encodeAppend } from './append.ts';
import { Fault } from './fault.ts';

/** client_heartbeat {} */
const heartbeat = Uint8Array.of(0x3a, 0x00);
const limit = { maxBytes: 1000 };

function body(fields: { data?: string; dataBinary?: Uint8Array; id?: string; seqno?: bigint }): Uint8Array {
  const { data = '', dataBinary = new Uint8Array(0), id = 'r1', seqno = 0n } = fields;
  const request = create(BidiAppendRequestSchema, {
    data,
    dataBinary,
    requestId: { requestId: id },
    appendSeqno: seqno,
  });
  return toBinary(BidiAppendRequestSchema, request);
}

function refusal(bytes: Uint8Array, options = limit): Fault {
  try {
    decodeAppend(bytes, options);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('the append was taken');
}

describe('decodeAppend', () => {
  it('[§2.1-hex-payload] reads hex of any case (§2.1)', () => {
    // data "3A00", request_id { request_id "r1" }, append_seqno 3
    const wire = Uint8Array.of(0x0a, 4, 0x33, 0x41, 0x30, 0x30, 0x12, 4, 0x0a, 2, 0x72, 0x31, 0x18, 3);
    const append = decodeAppend(wire, limit);
    expect(append).toMatchObject({ requestId: 'r1', seqno: 3n, form: 'hex' });
    expect(append.message.message.case).toBe('clientHeartbeat');
    expect(append.bytes).toEqual(heartbeat);
  });

  it('[R7-both-equal, §2.1-hex-payload] reads bytes, and both when they are equal (R7)', () => {
    expect(decodeAppend(body({ dataBinary: heartbeat }), limit)).toMatchObject({ form: 'binary', seqno: 0n });
    expect(decodeAppend(body({ data: '3a00', dataBinary: heartbeat }), limit).form).toBe('both');
  });

  it('[R7-both-equal] refuses both when they differ, and says from where on', () => {
    const made = refusal(body({ data: '3a00', dataBinary: Uint8Array.of(0x3a, 0x01) }));
    expect(made).toMatchObject({ name_: 'malformed_message', code: 'invalid_argument' });
    expect(made.message).toContain('from byte 1 on');
    expect(refusal(body({ data: '3a00', dataBinary: Uint8Array.of(0x3a) })).message).toContain('differ');
  });

  it('[R7-both-equal] refuses neither', () => {
    expect(refusal(body({})).message).toContain('Neither data nor data_binary');
  });

  it('refuses hex of odd length and bad digits with their place', () => {
    expect(refusal(body({ data: '3a0' })).message).toContain('3 hex digits, an odd number');
    expect(refusal(body({ data: '3a0z' })).message).toContain('byte 0x7a at position 3');
  });

  it('refuses an empty request id and a negative number', () => {
    expect(refusal(body({ data: '3a00', id: '' })).message).toContain('request_id is empty');
    expect(refusal(body({ data: '3a00', seqno: -1n })).message).toContain('append_seqno is -1');
  });

  it('takes the largest number there is', () => {
    expect(decodeAppend(body({ data: '3a00', seqno: 2n ** 63n - 1n }), limit).seqno).toBe(2n ** 63n - 1n);
  });

  it('measures the limit after decoding and names both numbers (R8)', () => {
    const message = Uint8Array.of(0xaa, 0x06, 2, 1, 2); // an unknown field of 5 bytes in all
    const hex = Buffer.from(message).toString('hex');
    expect(decodeAppend(body({ data: hex }), { maxBytes: 5 }).bytes).toHaveLength(5);
    for (const fields of [{ data: hex }, { dataBinary: message }]) {
      const made = refusal(body(fields), { maxBytes: 4 });
      expect(made).toMatchObject({ name_: 'message_too_large', code: 'resource_exhausted' });
      expect(made.message).toContain('5 bytes is over the limit of 4 bytes');
    }
  });

  it('[§2.1-root-is-client-message] says which of the two messages is not readable', () => {
    expect(refusal(Uint8Array.of(0xff, 0xff, 0xff)).message).toContain('not a BidiAppendRequest');
    expect(refusal(body({ data: 'ffff' })).message).toContain('not an agent.v1.AgentClientMessage');
  });

  it('takes a message whose branch it does not know, and passes over unknown fields of the request', () => {
    const known = body({ dataBinary: Uint8Array.of(0xc2, 0x3e, 1, 0x78) });
    const append = decodeAppend(Buffer.concat([known, Uint8Array.of(0x98, 0x06, 1)]), limit);
    expect(append.message.message.case).toBeUndefined();
    expect(append.message.$unknown).toHaveLength(1);
  });

  it('never throws anything but a Fault, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), bytes => {
        try {
          decodeAppend(bytes, limit);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('encodeAppend', () => {
  it('writes hex unless told otherwise, and leaves out the number 0 (R7, R10)', () => {
    const wire = encodeAppend({ requestId: 'r1', seqno: 0, bytes: heartbeat });
    expect([...wire]).toEqual([0x0a, 4, 0x33, 0x61, 0x30, 0x30, 0x12, 4, 0x0a, 2, 0x72, 0x31]);
  });

  it('is read back in every form', () => {
    const form = fc.constantFrom('hex' as const, 'binary' as const, 'both' as const);
    const seqno = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
    const requestId = fc.string({ minLength: 1, unit: 'grapheme' }).filter(id => id.isWellFormed());
    fc.assert(
      fc.property(requestId, seqno, fc.uint8Array({ minLength: 1, maxLength: 100 }), form, (id, number, text, as) => {
        const message = create(AgentClientMessageSchema, {
          message: {
            case: 'kvClientMessage',
            value: { id: 1, message: { case: 'getBlobResult', value: { blobData: text } } },
          },
        });
        const bytes = toBinary(AgentClientMessageSchema, message);
        const append = decodeAppend(encodeAppend({ requestId: id, seqno: number, bytes, form: as }), limit);
        expect(append).toEqual({ requestId: id, seqno: number, bytes, form: as, message });
      }),
    );
  });
});
