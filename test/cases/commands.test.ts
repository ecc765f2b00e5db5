import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHouse, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import { cardsOf, resultOf } from '../support/tool-cards.ts';

describe('a command', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  it('F41: with ten megabytes of output keeps head and tail with the count between them, on its card and for the model', async () => {
    const lines = Array.from({ length: 100 }, (_, piece) =>
      Array.from({ length: 1_000 }, (_, at) => `line ${piece * 1_000 + at} ${'x'.repeat(90)}\n`).join(''),
    );
    const whole = lines.join('');
    expect(whole.length).toBeGreaterThan(9_000_000);
    house.say({ calls: [{ name: 'Shell', args: { command: 'seq' } }] }, { text: 'done' });
    const peer = house.peer({
      on: {
        shellStreamArgs: async exec => {
          for (const data of lines)
            await exec.reply({ case: 'shellStream', value: { event: { case: 'stdout', value: { data } } } });
          await exec.reply({ case: 'shellStream', value: { event: { case: 'exit', value: { code: 0 } } } });
        },
      },
    });
    await peer.turn('count');
    expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);

    const { value } = resultOf(cardsOf(peer)[0]!)!;
    const { outputHead, outputTail, elidedChars, stdout } = value as Record<string, string> & { elidedChars: number };
    expect(stdout!.length).toBeLessThan(1_100_000);
    expect(whole.startsWith(outputHead!)).toBe(true);
    expect(whole.endsWith(outputTail!)).toBe(true);
    expect(outputHead!.length + outputTail!.length + elidedChars).toBe(whole.length);

    const [text] = toolTexts(house.requests[1]!.body);
    expect(text!.length).toBeLessThan(40_000);
    expect(text).toMatch(/^line 0 x/);
    expect(text).toMatch(/line 99999 x+\nExit code: 0$/);
    const [mark, count] = /\n?… (\d+) characters left out …\n?/.exec(text!)!;
    const [head, tail] = text!.replace('\nExit code: 0', '').split(mark);
    expect(whole.startsWith(head!)).toBe(true);
    expect(whole.endsWith(`${tail}\n`)).toBe(true);
    expect(head!.length + tail!.length + 1 + Number(count)).toBe(whole.length);
  });
});
