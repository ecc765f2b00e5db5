import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Figure } from './figure.ts';
import { serve } from './process.ts';

async function startNothing(): Promise<number> {
  const startedAt = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - startedAt;
}

/** From the start of `tandem serve` to its listening line, against a Node that does nothing. */
export async function measureStartUp(repetitions: number): Promise<Figure> {
  const ours: number[] = [];
  const limit: number[] = [];
  for (let i = -1; i < repetitions; i++) {
    const served = await serve({ providers: { demo: { type: 'demo' } } });
    await served.stop();
    const nothing = await startNothing();
    if (i < 0) continue; // the first start fills the compile cache
    ours.push(served.startMs);
    limit.push(nothing);
  }
  return {
    name: 'start-up',
    workload: 'tandem serve with a config file, from spawn to the listening line, compile cache warm',
    unit: 'ms',
    ours,
    limit: { what: 'node -e 0', values: limit },
  };
}
