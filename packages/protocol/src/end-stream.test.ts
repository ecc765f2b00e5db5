import { create, toBinary } from '@bufbuild/protobuf';
import { base64Encode } from '@bufbuild/protobuf/wire';
import { describe, expect, it } from 'vitest';
import { ErrorDetailsSchema, ErrorDetails_Error } from './aiserver.ts';
import { decodeEndStream, decodeUnaryError, encodeEndStream, encodeUnaryError } from './end-stream.ts';
import { fault } from './fault.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const json = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes));

describe('encodeEndStream', () => {
  it('writes {} for success', () => {
    expect(encodeEndStream()).toEqual(utf8('{}'));
  });

  it('[R54-detail-encoding] writes the typed detail in base64 without padding (R54)', () => {
    const payload = json(encodeEndStream(fault('superseded', 'A newer run took over.')));
    expect(payload.error.code).toBe('failed_precondition');
    expect(payload.error.message).toBe('A newer run took over.');
    const [detail] = payload.error.details;
    expect(detail.type).toBe('aiserver.v1.ErrorDetails');
    // error 29; details { title, detail, is_retryable false, show_request_id true }
    const words = '0a0a53757065727365646564' + '1216' + '41206e657765722072756e20746f6f6b206f7665722e' + '20002801';
    expect(Buffer.from(detail.value, 'base64').toString('hex')).toBe('081d' + '1228' + words);
    expect(detail.value).not.toContain('=');
    expect(detail.debug.details.isRetryable).toBe(false);
  });

  it('keeps the cause of this side off the wire', () => {
    const payload = encodeEndStream(fault('provider_unavailable', 'No answer.', { cause: new Error('sk-secret') }));
    expect(new TextDecoder().decode(payload)).not.toContain('sk-secret');
  });
});

describe('decodeEndStream', () => {
  it('gives back what was encoded', () => {
    const sent = fault('provider_rate_limited', 'Wait 40 s.', { additionalInfo: { retry_after_seconds: '40' } });
    const { fault: got } = decodeEndStream(encodeEndStream(sent));
    expect(got).toMatchObject({
      name_: 'reported',
      code: 'resource_exhausted',
      title: 'Provider rate limit',
      detail: 'Wait 40 s.',
      retryable: false,
      error: ErrorDetails_Error.RATE_LIMITED,
      additionalInfo: { retry_after_seconds: '40' },
    });
  });

  it('reads success with trailers', () => {
    expect(decodeEndStream(utf8('{"metadata":{"X-Id":["a","b"]}}'))).toEqual({
      metadata: { 'x-id': ['a', 'b'] },
      fault: undefined,
    });
  });

  it('reads a detail with padding, and one whose type is a URL', () => {
    const bytes = toBinary(ErrorDetailsSchema, create(ErrorDetailsSchema, { details: { title: 'T', detail: 'D' } }));
    const value = base64Encode(bytes);
    expect(value).toMatch(/=$/);
    for (const type of ['aiserver.v1.ErrorDetails', 'type.googleapis.com/aiserver.v1.ErrorDetails']) {
      const got = decodeEndStream(
        utf8(JSON.stringify({ error: { code: 'internal', details: [{ type, value }] } })),
      ).fault;
      expect(got).toMatchObject({ code: 'internal', title: 'T', detail: 'D' });
    }
  });

  it('passes over details of others and broken ones, and keeps code and message', () => {
    const details = [{ type: 'google.rpc.Help', value: 'AA' }, 7, { type: 'aiserver.v1.ErrorDetails', value: '////' }];
    const got = decodeEndStream(
      utf8(JSON.stringify({ error: { code: 'unavailable', message: 'busy', details } })),
    ).fault;
    expect(got).toMatchObject({ code: 'unavailable', detail: 'busy' });
  });

  it('guesses whether to try again only when nothing is said about it', () => {
    const retryable = (error: unknown) => decodeEndStream(utf8(JSON.stringify({ error }))).fault?.retryable;
    expect(retryable({ code: 'unavailable' })).toBe(true);
    expect(retryable({ code: 'invalid_argument' })).toBe(false);
    const value = base64Encode(
      toBinary(ErrorDetailsSchema, create(ErrorDetailsSchema, { details: { isRetryable: false } })),
    );
    expect(retryable({ code: 'unavailable', details: [{ type: 'aiserver.v1.ErrorDetails', value }] })).toBe(false);
  });

  it('reads an unknown code as `unknown`', () => {
    expect(decodeEndStream(utf8('{"error":{"code":"teapot","message":"m"}}')).fault).toMatchObject({
      code: 'unknown',
      detail: 'm',
    });
  });

  it.each(['', 'x', '[]', 'null', '"text"'])('takes the payload %j for a failure', payload => {
    expect(decodeEndStream(utf8(payload)).fault?.name_).toBe('malformed_message');
  });
});

describe('unary errors', () => {
  it('go out as Connect JSON with the HTTP status of the code', () => {
    const { status, body } = encodeUnaryError(fault('message_too_large', '9 of 8 bytes.'));
    expect(status).toBe(429);
    expect(json(body)).toMatchObject({ code: 'resource_exhausted', message: '9 of 8 bytes.' });
    expect(decodeUnaryError(status, body)).toMatchObject({ code: 'resource_exhausted', title: 'Message too large' });
  });

  it('are told by the status alone when the body is something else', () => {
    expect(decodeUnaryError(502, utf8('<html>bad gateway'))).toMatchObject({
      code: 'unavailable',
      retryable: true,
      detail: 'The server answered HTTP 502.',
    });
    expect(decodeUnaryError(401, utf8('{}')).code).toBe('unauthenticated');
    expect(decodeUnaryError(403, utf8('{"message":"no"}'))).toMatchObject({ code: 'permission_denied', detail: 'no' });
  });
});
