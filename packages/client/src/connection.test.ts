import { expect, it } from 'vitest';
import { makeConnection } from './connection.ts';
import { fetchTransport } from './transport-fetch.ts';

const make = (baseUrl: string, apiKey?: string) => makeConnection({ transport: fetchTransport(), baseUrl, apiKey });

it('takes a base URL with a path and without its last slash', () => {
  expect(make('http://127.0.0.1:7788/').baseUrl).toBe('http://127.0.0.1:7788');
  expect(make('https://host/agents/v1//').baseUrl).toBe('https://host/agents/v1');
});

it('refuses addresses that are none, or that hold a password', () => {
  expect(() => make('127.0.0.1:7788')).toThrow();
  expect(() => make('ftp://host')).toThrow(/http/);
  expect(() => make('http://user:secret@host')).toThrow(/apiKey/);
  expect(() => make('http://user:secret@host')).not.toThrow(/secret/);
});

it('sends the key as bearer, and none when there is none', () => {
  expect(make('http://h', 'k').headers['authorization']).toBe('Bearer k');
  expect(make('http://h').headers).not.toHaveProperty('authorization');
});
