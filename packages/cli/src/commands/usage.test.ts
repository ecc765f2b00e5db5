import { describe, expect, it } from 'vitest';
import { startProvider } from '../../test/provider.ts';
import { makeSurroundings } from '../../test/surroundings.ts';
import { run } from './run.ts';
import { usage } from './usage.ts';

const today = () => new Date().toISOString().slice(0, 10);
const tokens = (prompt: number, completion: number) => ({ prompt_tokens: prompt, completion_tokens: completion });

describe('usage', () => {
  it('[product-usage] shows what the runs of this machine used and cost, by day, model and conversation', async () => {
    const { config } = await startProvider(
      [
        { text: 'one', usage: { ...tokens(1_200, 30), prompt_tokens_details: { cached_tokens: 200 } } },
        { text: 'two', usage: tokens(2_000, 10) },
      ],
      { price: { input: 1, output: 10, cacheRead: 0.1 } },
    );
    const surroundings = makeSurroundings();
    const { stdout } = surroundings;
    for (const prompt of ['one', 'two']) expect(await run(prompt, { config, quiet: true }, surroundings)).toBe(0);
    stdout.text = '';
    expect(await usage({ config }, surroundings)).toBe(0);
    expect(stdout.text).toBe(
      'day         turns  calls     in  cached  out     cost\n' +
        `${today()}      2      2  3,000     200   40  $0.0034\n`,
    );
    stdout.text = '';
    expect(await usage({ config, by: 'conversation' }, surroundings)).toBe(0);
    expect(stdout.lines).toHaveLength(4);
    expect(stdout.lines.at(-1)).toMatch(/^total +2 +2 +3,000 +200 +40 +\$0\.0034$/);
    stdout.text = '';
    expect(await usage({ config, by: 'model', output: 'json' }, surroundings)).toBe(0);
    expect(JSON.parse(stdout.text)).toMatchObject({
      by: 'model',
      rows: [{ name: 'scripted/test-model', calls: 2, turns: 2, inputTokens: 3_000, outputTokens: 40 }],
    });
  });

  it('[product-usage] says what has no price, that nothing was used, and what it takes', async () => {
    const { config } = await startProvider([{ text: 'one', usage: tokens(10, 1) }]);
    const surroundings = makeSurroundings();
    const { stdout, stderr } = surroundings;
    expect(await usage({ config }, surroundings)).toBe(0);
    expect([stdout.text, stderr.text]).toEqual(['', 'tandem: No model call was made yet.\n']);
    expect(await run('one', { config, quiet: true }, surroundings)).toBe(0);
    stdout.text = '';
    expect(await usage({ config }, surroundings)).toBe(0);
    expect(stdout.lines[1]).toMatch(/ unknown$/);
    expect(stdout.lines[2]).toContain('The cost of 1 call is not known, for want of a price');
    stderr.text = '';
    expect(await usage({ config, since: 'monday' }, surroundings)).toBe(2);
    expect(stderr.text).toBe('tandem: --since takes a day such as 2026-12-01, and "monday" is none.\n');
    expect(await usage({ config, until: '2026-13-01' }, surroundings)).toBe(2);
    expect(stderr.text).toContain('--until takes a day');
    expect(await usage({ server: 'http://127.0.0.1:1' }, surroundings)).toBe(1);
    expect(stderr.text).toContain('The usage of http://127.0.0.1:1 cannot be had');
  });
});
