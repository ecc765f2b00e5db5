import { fault } from '@tandem/protocol';
import { expect, it } from 'vitest';
import { endFrame, heartbeatFrame } from './frame.ts';

it('[R3-connect-envelopes] writes a heartbeat as five bytes of head and four of message', () => {
  expect([...heartbeatFrame]).toEqual([0x00, 0x00, 0x00, 0x00, 0x04, 0x0a, 0x02, 0x6a, 0x00]);
});

it('writes a good end as an envelope of two bytes of JSON, flagged 0x02', () => {
  expect([...endFrame(undefined)]).toEqual([0x02, 0x00, 0x00, 0x00, 0x02, 0x7b, 0x7d]);
});

it('writes a bad end as JSON with code, text and the detail in base64 without padding', () => {
  const frame = Buffer.from(endFrame(fault('superseded', 'A newer message took over.')));
  expect(frame[0]).toBe(0x02);
  expect(frame.readUInt32BE(1)).toBe(frame.length - 5);
  const { error } = JSON.parse(frame.toString('utf8', 5));
  expect(error).toMatchObject({ code: 'failed_precondition', message: 'A newer message took over.' });
  expect(error.details[0].type).toBe('aiserver.v1.ErrorDetails');
  expect(error.details[0].value).toMatch(/^[A-Za-z0-9+/]+$/);
});
