import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Figure } from './figure.ts';
import { measureStarts } from './start.ts';

/** From the start of `tandem serve` to its listening line, against a Node that does nothing. */
export function measureStartUp(repetitions: number): Promise<Figure[]> {
  const args = (folder: string) => {
    const file = join(folder, 'tandem.json');
    const store = { url: `sqlite:${join(folder, 'tandem.db')}` };
    writeFileSync(file, JSON.stringify({ store, providers: { demo: { type: 'demo' } } }));
    return ['serve', '--port', '0', '--json', '--config', file];
  };
  return measureStarts(
    'start-up',
    'tandem serve with a config file, from spawn to the listening line',
    { args, until: 'line' },
    { first: 15, second: 8 },
    repetitions,
  );
}
