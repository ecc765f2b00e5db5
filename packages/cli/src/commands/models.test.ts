import { describe, expect, it } from 'vitest';
import { startProvider } from '../../test/provider.ts';
import { makeSurroundings } from '../../test/surroundings.ts';
import { models } from './models.ts';

describe('models', () => {
  it('lists what a run could use, from a server inside the process', async () => {
    const { config } = await startProvider([]);
    const surroundings = makeSurroundings();
    expect(await models({ config }, surroundings)).toBe(0);
    expect(surroundings.stdout.text).toMatch(/^test-model\n {4}also scripted\/test-model\n/);
    surroundings.stdout.text = '';
    expect(await models({ config, json: true }, surroundings)).toBe(0);
    expect(JSON.parse(surroundings.stdout.text)).toMatchObject({ id: 'test-model', aliases: ['scripted/test-model'] });
  });

  it('says so when nobody answers', async () => {
    const surroundings = makeSurroundings();
    expect(await models({ server: 'http://127.0.0.1:1' }, surroundings)).toBe(1);
    expect(surroundings.stderr.text).toMatch(/cannot reach http:\/\/127\.0\.0\.1:1/);
    expect(await models({ server: 'nowhere' }, surroundings)).toBe(2);
  });
});
