import { expect, it } from 'vitest';
import type { CredentialsRule } from '../config/config.ts';
import { CredentialsPolicy } from './policy.ts';

/** Whether a key may go to this address, when its host turns out to be at this one. */
function takes(rule: CredentialsRule, address: string, found?: string, providers: string[] = []): boolean {
  const policy = new CredentialsPolicy(rule, providers);
  try {
    policy.checkUrl(new URL(address));
    if (found !== undefined) policy.checkAddress(new URL(address), found);
    return true;
  } catch {
    return false;
  }
}

it.each<[CredentialsRule, string, string | undefined, boolean]>([
  ['allow', 'https://api.example.com/v1', '93.184.216.34', true],
  ['allow', 'https://api.example.com/v1', '2606:2800:220:1::1', true],
  ['allow', 'http://api.example.com/v1', '93.184.216.34', false],
  ['allow', 'https://api.example.com/v1?key=1', undefined, false],
  ['allow', 'https://user@api.example.com/v1', undefined, false],
  ['allow', 'https://api.example.com/v1', '10.0.0.1', false],
  ['allow', 'https://api.example.com/v1', '::ffff:10.0.0.1', false],
  ['allow', 'https://api.example.com/v1', '64:ff9b::a00:1', false],
  ['allow', 'https://api.example.com/v1', '::ffff:0:a00:1', false],
  ['allow', 'https://api.example.com/v1', 'fd00::1', false],
  ['allow', 'https://api.example.com/v1', '100.64.0.1', false],
  ['allow', 'https://[::1]/v1', undefined, false],
  ['forbid', 'https://api.example.com/v1', undefined, false],
  [{ hosts: ['api.example.com'] }, 'https://API.example.com./v1', '10.0.0.1', true],
  [{ hosts: ['api.example.com'] }, 'http://api.example.com:8080/v1', '10.0.0.1', true],
  [{ hosts: ['api.example.com:8080'] }, 'http://api.example.com:8081/v1', undefined, false],
  [{ hosts: ['api.example.com'] }, 'https://api.example.com/v1', '169.254.169.254', false],
  [{ hosts: ['api.example.com'] }, 'https://api.example.com/v1', 'fd00:ec2::254', false],
  [{ hosts: ['169.254.169.254'] }, 'http://169.254.169.254/v1', undefined, true],
  [{ hosts: ['*.example.com'] }, 'https://a.example.com/v1', '93.184.216.34', true],
  [{ hosts: ['*.example.com'] }, 'https://a.example.com/v1', '10.0.0.1', false],
  [{ hosts: ['*.example.com'] }, 'https://example.com/v1', undefined, false],
  [{ hosts: ['*.example.com'] }, 'https://badexample.com/v1', undefined, false],
  [{ hosts: ['[::1]:8080'] }, 'http://[::1]:8080/v1', undefined, true],
  [{ hosts: ['[::1]'] }, 'http://[::1]:8080/v1', undefined, true],
])('[T19-address-policy] T19: under %j a key for %s at %s may go there: %s', (rule, address, found, isTaken) => {
  expect(takes(rule, address, found)).toBe(isTaken);
});

it('[T19-address-policy] T19: a provider of the config is named with its port alone', () => {
  const providers = ['https://gateway.internal/v1', 'http://127.0.0.1:11434/v1'];
  expect(takes('allow', 'https://gateway.internal/v1', '10.0.0.1', providers)).toBe(true);
  expect(takes('allow', 'https://gateway.internal:8500/v1', '10.0.0.1', providers)).toBe(false);
  expect(takes('allow', 'http://127.0.0.1:11434/v1', undefined, providers)).toBe(true);
  expect(takes('allow', 'http://127.0.0.1:22/v1', undefined, providers)).toBe(false);
});
