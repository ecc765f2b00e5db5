import { describe, expect, it } from 'vitest';
import { startProvider } from '../../test/provider.ts';
import { makeSurroundings } from '../../test/surroundings.ts';
import { models } from './models.ts';

describe('models', () => {
  it('[product-models] lists what a run could use, with window, abilities and price', async () => {
    const { config } = await startProvider([], {
      contextWindow: 131_072,
      maxOutput: 8_192,
      vision: true,
      parameters: [{ id: 'effort', values: ['low', 'high'] }],
      price: { input: 0.25, output: 2 },
    });
    const surroundings = makeSurroundings();
    expect(await models({ config }, surroundings)).toBe(0);
    expect(surroundings.stdout.text).toBe(
      'test-model\n' +
        '    131,072 tokens in all, 8,192 tokens an answer, sees images, $0.25 in and $2 out a million tokens\n' +
        '    also scripted/test-model\n' +
        '    test-model[effort=…]: low, high\n',
    );
    surroundings.stdout.text = '';
    expect(await models({ config, json: true }, surroundings)).toBe(0);
    expect(JSON.parse(surroundings.stdout.text)).toMatchObject({
      id: 'test-model',
      aliases: ['scripted/test-model'],
      contextWindow: 131_072,
      maxOutput: 8_192,
      vision: true,
      price: { input: 0.25, output: 2 },
    });
  });

  it('says so when nobody answers', async () => {
    const surroundings = makeSurroundings();
    expect(await models({ server: 'http://127.0.0.1:1' }, surroundings)).toBe(1);
    expect(surroundings.stderr.text).toMatch(/cannot reach http:\/\/127\.0\.0\.1:1/);
    expect(await models({ server: 'nowhere' }, surroundings)).toBe(2);
  });
});
