import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Figure } from './figure.ts';
import { measureStarts } from './start.ts';

/** From the start of the command to its answer or its first request, against a Node that does nothing. */
export async function measureClientStart(repetitions: number): Promise<Figure[]> {
  const version = await measureStarts(
    'tandem --version',
    'from spawn to exit',
    { args: () => ['--version'], until: 'exit' },
    { second: 3 },
    repetitions,
  );
  const args = (folder: string) => {
    const file = join(folder, 'tandem.json');
    const workspace = join(folder, 'workspace');
    mkdirSync(workspace, { recursive: true });
    writeFileSync(file, JSON.stringify({ providers: { demo: { type: 'demo' } } }));
    return ['run', 'What is here?', '--cwd', workspace, '--config', file];
  };
  const run = await measureStarts(
    'tandem run',
    'from spawn until the first request leaves for the server inside the process, whose start counts',
    { args, until: 'request' },
    { second: 12 },
    repetitions,
  );
  return [...version, ...run];
}
