import { readFileSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { AgentClient } from './client.ts';

const make = (silenceMs: number) => new AgentClient({ baseUrl: 'http://127.0.0.1:1', executors: [], silenceMs });

it('[R17-silence-given-up] takes a silence from 15 to 75 seconds, and no other', () => {
  for (const silenceMs of [15_000, 30_000, 75_000]) expect(() => make(silenceMs)).not.toThrow();
  for (const silenceMs of [0, 14_999, 75_001, Number.NaN]) expect(() => make(silenceMs)).toThrow(/from 15000 to 75000/);
});

it('needs nothing of Node outside of its folder for Node', () => {
  const folder = new URL('.', import.meta.url);
  const sources = readdirSync(folder).filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  expect(sources.length).toBeGreaterThan(20);
  for (const name of sources) {
    const text = readFileSync(new URL(name, folder), 'utf8');
    expect([name, /from 'node:|import\('node:|\bprocess\.\w|\bBuffer\b|NodeJS\./.exec(text)?.[0]]).toEqual([
      name,
      undefined,
    ]);
  }
});

it('[product-no-executors] is made without executors too, and then can do nothing for a server', async () => {
  const client = new AgentClient({ baseUrl: 'http://127.0.0.1:1' });
  const run = client.run({ prompt: 'Go.' });
  run.cancel();
  expect((await run.done).outcome).toBe('cancelled');
  await client.close();
});
