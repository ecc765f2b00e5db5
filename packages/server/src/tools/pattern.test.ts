import { describe, expect, it } from 'vitest';
import { matchPattern, PatternFault } from './pattern.ts';

describe('matchPattern', () => {
  it('gives what matched in each text', () => {
    expect(matchPattern('b+', ['abb', 'none', 'B'], 'i')).toEqual(['bb', undefined, 'B']);
    expect(matchPattern('', ['abc'])).toEqual(['']);
  });

  it('refuses what is no regular expression', () => {
    expect(() => matchPattern('(', ['x'])).toThrow(PatternFault);
  });

  it('stops a pattern that does not come to an end', () => {
    expect(() => matchPattern('^(a+)+$', [`${'a'.repeat(50)}!`])).toThrow(/takes too long/);
  });
});
