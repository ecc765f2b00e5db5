import { expect, test } from 'vitest';
import { redactText } from './secret-text.ts';

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
