import { describe, expect, it } from 'vitest';
import type { BlobCache } from '../store/port.ts';
import { MessageCache, messagesOf, scopeKey } from './message-cache.ts';

const message = (content: string) => ({ role: 'user', content }) as const;

describe('messages kept in memory', () => {
  it('stay within their bytes: the longest unused go, long ones are not taken', () => {
    const cache = new MessageCache();
    const each = 200 * 1024;
    cache.put('first', message('first'), each);
    cache.put('second', message('second'), each);
    for (let at = 0; at < 161; at++) cache.put(`more ${at}`, message('more'), each);
    expect(cache.get('first')?.content).toBe('first');
    for (let at = 0; at < 5; at++) cache.put(`new ${at}`, message('new'), each);
    expect(cache.get('first')?.content).toBe('first');
    expect(cache.get('second')).toBeUndefined();
    expect(cache.get('new 4')?.content).toBe('new');
    cache.put('long', message('long'), 1024 * 1024);
    expect(cache.get('long')).toBeUndefined();
  });

  it('belong to a store, and to the owner and the key under which they were read', () => {
    const [one, other] = [{}, {}] as BlobCache[];
    messagesOf(one!).put('a', message('a'), 1);
    expect(messagesOf(one!).get('a')).toBeDefined();
    expect(messagesOf(other!).get('a')).toBeUndefined();
    const keys = [
      { owner: 'anna' },
      { owner: 'bert' },
      { owner: 'anna', sealKey: new Uint8Array(32) },
      { owner: 'anna', sealKey: new Uint8Array(32).fill(1) },
    ].map(scopeKey);
    expect(new Set(keys).size).toBe(4);
  });
});
