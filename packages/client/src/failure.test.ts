import { decodeEndStream, encodeEndStream, fault } from '@tandem/protocol';
import { expect, it } from 'vitest';
import { failureOf, failureOfFault, reasonOf } from './failure.ts';

const ofJson = (json: unknown) => {
  const payload = new TextEncoder().encode(JSON.stringify(json));
  return failureOfFault(decodeEndStream(payload).fault!, payload);
};

it.each(['unavailable', 'resource_exhausted', 'deadline_exceeded', 'aborted', 'internal', 'unknown'])(
  'lets %s without a detail be tried again',
  code => {
    expect(ofJson({ error: { code, message: 'm' } }).error).toMatchObject({ code, message: 'm', retryable: true });
  },
);

it.each([
  'unauthenticated',
  'permission_denied',
  'invalid_argument',
  'failed_precondition',
  'unimplemented',
  'not_found',
])('lets %s end the run', code => {
  expect(ofJson({ error: { code, message: 'm' } }).error).toMatchObject({ code, retryable: false });
});

it('believes a detail that says it is not retryable', () => {
  const payload = encodeEndStream(fault('provider_unavailable', 'down', { retryable: false }));
  expect(failureOfFault(decodeEndStream(payload).fault!, payload).error).toMatchObject({
    code: 'unavailable',
    message: 'down',
    retryable: false,
  });
});

it('does not try again what names itself retryable but is about the request', () => {
  const payload = encodeEndStream(fault('forbidden_origin', 'no', { retryable: true }));
  expect(failureOfFault(decodeEndStream(payload).fault!, payload).error.retryable).toBe(false);
});

it('reads how long to wait', () => {
  const payload = encodeEndStream(
    fault('provider_rate_limited', 'slow', { retryable: true, additionalInfo: { retry_after_seconds: '40' } }),
  );
  expect(failureOfFault(decodeEndStream(payload).fault!, payload).waitMs).toBe(40_000);
});

it('S07: knows a cancel by its code alone, not by words', () => {
  expect(ofJson({ error: { code: 'canceled', message: 'm' } }).cancelled).toBe(true);
  expect(ofJson({ error: { code: 'unavailable', message: 'request aborted by upstream, canceled' } }).cancelled).toBe(
    false,
  );
});

it('finds the reason below a general failure', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
  expect(reasonOf(new TypeError('fetch failed', { cause: refused }))).toBe('connect ECONNREFUSED 127.0.0.1:1');
  expect(reasonOf(new AggregateError([refused], ''))).toBe('connect ECONNREFUSED 127.0.0.1:1');
  expect(failureOf('text', 'doing').error).toMatchObject({
    code: 'unavailable',
    message: 'doing: text',
    retryable: true,
  });
});
