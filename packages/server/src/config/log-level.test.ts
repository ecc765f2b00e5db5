import { expect, test } from 'vitest';
import { logLevelOf } from './log-level.ts';

test('the level of the log is that of LOG_LEVEL, info by default', () => {
  expect([logLevelOf({}), logLevelOf({ LOG_LEVEL: 'DEBUG' }), logLevelOf({ LOG_LEVEL: '' })]).toEqual([
    'info',
    'debug',
    'info',
  ]);
});

test('[bad-log-level] a level that there is not is refused', () => {
  expect(() => logLevelOf({ LOG_LEVEL: 'loud' })).toThrow(
    'The environment variable LOG_LEVEL is "loud"; expected one of debug, info, warn, error, silent.',
  );
});
