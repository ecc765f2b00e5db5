import { expect, it } from 'vitest';
import { codeOfStatus, isCode, statusOfCode } from './code.ts';

it('maps codes to the HTTP statuses of Connect', () => {
  expect(statusOfCode('invalid_argument')).toBe(400);
  expect(statusOfCode('unauthenticated')).toBe(401);
  expect(statusOfCode('resource_exhausted')).toBe(429);
  expect(statusOfCode('unimplemented')).toBe(501);
  expect(statusOfCode('unavailable')).toBe(503);
});

it('reads a bare HTTP status as a code', () => {
  expect([401, 403, 404, 429, 502, 418].map(codeOfStatus)).toEqual([
    'unauthenticated',
    'permission_denied',
    'unimplemented',
    'unavailable',
    'unavailable',
    'unknown',
  ]);
});

it('knows its own words only', () => {
  expect(isCode('canceled')).toBe(true);
  expect(isCode('cancelled')).toBe(false);
  expect(isCode('toString')).toBe(false);
  expect(isCode(8)).toBe(false);
});
