import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Secret } from './secret.ts';

it('[product-secret-type] prints [redacted] however it is shown, and gives its value to who asks for it', () => {
  const secret = new Secret('hunter2-hunter2');
  const shown = [
    `${secret}`,
    String(secret),
    JSON.stringify({ secret }),
    inspect(secret),
    inspect({ deep: { secret } }),
    Object.values(secret).join(),
  ];
  for (const text of shown) expect(text).not.toContain('hunter2');
  expect(JSON.stringify({ secret })).toBe('{"secret":"[redacted]"}');
  expect(secret.reveal()).toBe('hunter2-hunter2');
});
