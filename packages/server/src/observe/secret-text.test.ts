import { expect, test } from 'vitest';
import { redactCutText, redactText } from './secret-text.ts';

test.each([
  ['Incorrect API key provided: sk-proj-abc*****xyz9.', 'Incorrect API key provided: [redacted]'],
  ['authorization: Bearer a.b-c_d', 'authorization: Bearer [redacted]'],
  ['at http://me:pass@host/v1', 'at http://[redacted]@host/v1'],
  ['{"api_key": "q1w2e3r4"}', '{"api_key": "[redacted]"}'],
  ['?api-key=q1w2e3r4&x=1', '?api-key=[redacted]&x=1'],
  ['token eyJhbGciOiJI.eyJzdWIi.sig-nature', 'token [redacted]'],
  ['the task-force of risk-management-systems', 'the task-force of risk-management-systems'],
  ['a basket of keys: three', 'a basket of keys: three'],
])('%s', (text, clean) => {
  expect(redactText(text)).toBe(clean);
});

test('values that are given are taken out, words that stand for none are not', () => {
  expect(redactText('key q7-x9-long-enough is wrong, none of it', ['q7-x9-long-enough', 'none'])).toBe(
    'key [redacted] is wrong, none of it',
  );
});

test('a text that was cut inside a secret ends without the beginning of it', () => {
  const key = 'Zx93kd8s7f6g5h4j3k2l';
  for (const length of [4, 10, key.length - 1]) {
    expect(redactCutText(`the key ${key.slice(0, length)}`, [key])).toBe('the key [redacted]');
  }
  expect(redactCutText('what it ends with: Zx9', [key])).toBe('what it ends with: Zx9');
  expect(redactCutText(`${key} inside`, [key])).toBe('[redacted] inside');
});
