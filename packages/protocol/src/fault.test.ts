import { describe, expect, it } from 'vitest';
import { ErrorDetails_Error } from './aiserver.ts';
import { Fault, fault } from './fault.ts';
import { faults } from './fault-table.ts';
import type { FaultRow } from './fault-table.ts';

const rows: [string, FaultRow][] = Object.entries(faults);

describe('the fault table', () => {
  it('[R54-no-aborted] never uses the codes that stock clients retry whatever the detail says, but for a cancel (R54)', () => {
    const used = rows.filter(([, row]) => row.code === 'aborted' || row.code === 'canceled').map(([name]) => name);
    expect(used).toEqual(['canceled']);
  });

  it('[R55-not-internal] keeps `internal` and `unknown` away from what a person should read (R55)', () => {
    const used = rows.filter(([, row]) => row.code === 'internal' || row.code === 'unknown').map(([name]) => name);
    expect(used).toEqual(['internal', 'reported']);
  });

  it('says of every row in a sentence when it happens', () => {
    for (const [name, row] of rows) expect(row.when, name).toMatch(/^[A-Z`].*\.$/);
  });

  it('has the codes and errors of R15 and R55', () => {
    expect(faults.superseded).toMatchObject({ code: 'failed_precondition', title: 'Superseded', retryable: false });
    expect(faults.unknown_model).toMatchObject({ code: 'invalid_argument', error: ErrorDetails_Error.BAD_MODEL_NAME });
    expect(faults.conversation_too_long).toMatchObject({
      code: 'invalid_argument',
      error: ErrorDetails_Error.CONVERSATION_TOO_LONG,
    });
    expect(faults.provider_credentials).toMatchObject({
      code: 'failed_precondition',
      error: ErrorDetails_Error.BAD_USER_API_KEY,
    });
    expect(faults.provider_rate_limited.code).toBe('resource_exhausted');
    expect(faults.placeholder_expired).toMatchObject({ code: 'deadline_exceeded', retryable: true });
  });
});

describe('Fault', () => {
  it('takes code, title, error and retryable from its row', () => {
    const made = fault('append_gap', 'Message 3 did not come within 30 s.');
    expect(made).toBeInstanceOf(Error);
    expect(made).toMatchObject({
      name: 'Fault',
      name_: 'append_gap',
      code: 'unavailable',
      title: 'A message is missing',
      retryable: true,
      error: ErrorDetails_Error.NETWORK_ERROR,
      detail: 'Message 3 did not come within 30 s.',
      message: 'Message 3 did not come within 30 s.',
      additionalInfo: {},
    });
  });

  it('lets the one who throws know better', () => {
    const info = { retry_after_seconds: '40' };
    const made = fault('provider_rate_limited', 'Wait 40 s.', {
      retryable: true,
      title: 'Slow down',
      additionalInfo: info,
    });
    expect(made).toMatchObject({ retryable: true, title: 'Slow down', additionalInfo: info });
  });

  it('hides an unexpected error behind a neutral text and keeps it as the cause', () => {
    const bug = new TypeError('key sk-secret is wrong');
    const made = Fault.from(bug);
    expect(made.code).toBe('internal');
    expect(made.message).not.toContain('secret');
    expect(made.cause).toBe(bug);
  });

  it('gives a Fault back as it is', () => {
    const made = fault('superseded', 'A newer run took over.');
    expect(Fault.from(made)).toBe(made);
  });
});
