import { describe, expect, it } from 'vitest';
import { NO_TITLE, plainTitle, readTitle } from './title.ts';

describe('the title in an answer of a model', () => {
  it('is its first line with words, without quotes, marks and a full stop', () => {
    expect(readTitle('Fix the login bug')).toBe('Fix the login bug');
    expect(readTitle('\n\n  "Fix the login bug."\nWhat else?')).toBe('Fix the login bug');
    expect(readTitle('**Title:** `Fix login`')).toBe('Fix login');
    expect(readTitle('# Fix   the\tlogin')).toBe('Fix the login');
    expect(readTitle('“登录错误的修复”')).toBe('登录错误的修复');
    expect(readTitle('""\n- Fix it')).toBe('Fix it');
  });

  it('has six words and sixty characters at most, and never half a character', () => {
    expect(readTitle('one two three four five six seven')).toBe('one two three four five six');
    expect(readTitle('修'.repeat(100))).toBe('修'.repeat(60));
    expect(readTitle('😀'.repeat(100))).toBe('😀'.repeat(60));
  });

  it('has nothing in it that a terminal would obey', () => {
    expect(readTitle('Fix \u001b]0;evil\u0007 login')).toBe('Fix ]0;evil login');
    expect(readTitle('Fix \u202eigol')).toBe('Fix igol');
  });

  it('is empty when the answer has no words', () => {
    expect(readTitle('')).toBe('');
    expect(readTitle(' "" \n ** \n')).toBe('');
  });
});

describe('the title without a model', () => {
  it('is made of the first words that were written', () => {
    expect(plainTitle('```\nnpm test fails with a strange error, why?')).toBe('npm test fails with a strange');
    expect(plainTitle('What is in this folder?')).toBe('What is in this folder?');
  });

  it('is the same for every message without words', () => {
    expect([plainTitle(''), plainTitle(' \n\t'), plainTitle('---\n***')]).toEqual([NO_TITLE, NO_TITLE, NO_TITLE]);
  });
});
