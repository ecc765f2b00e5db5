import { expect, test } from 'vitest';
import { signAws } from './aws-signature.ts';

const KEY = {
  region: 'us-east-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const NOW = Date.UTC(2015, 7, 30, 12, 36);

test('signs the POST of the published test suite as published', () => {
  const signed = signAws(new URL('https://example.amazonaws.com/'), {}, '', { key: KEY, now: NOW, service: 'service' });
  expect(signed).toEqual({
    'x-amz-date': '20150830T123600Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  });
});

test('signs body, headers, path and the token of a session', () => {
  const url = new URL('https://bedrock-runtime.us-east-1.amazonaws.com/model/a.b%3A0/converse-stream');
  const sign = (body: string, sessionToken?: string, path = url) =>
    signAws(path, { 'content-type': 'application/json' }, body, { key: { ...KEY, sessionToken }, now: NOW });
  const signed = sign('{}', 'token');
  expect(signed['x-amz-security-token']).toBe('token');
  expect(signed['authorization']).toContain('SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,');
  const others = [sign('{"a":1}', 'token'), sign('{}', 'other'), sign('{}'), sign('{}', 'token', new URL('/x', url))];
  expect(new Set([signed, ...others].map(({ authorization }) => authorization)).size).toBe(5);
});
