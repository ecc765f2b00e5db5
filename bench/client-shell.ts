import type { Figure } from './figure.ts';
import { pause, residentBytes, startWorker } from './process.ts';

const OUTPUT_MB = 100;
const MOST_MB = 60;
/** How often the memory is looked at; a shorter peak is not seen. */
const LOOK_MS = 5;
const say = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' 'x' | fold -w 99`;

/** The memory that a client needs more while a command writes 100 MB. */
export async function measureClientShell(repetitions: number): Promise<Figure> {
  const extra: number[] = [];
  const notes: string[] = [];
  for (let i = 0; i < repetitions; i++) {
    const worker = startWorker('client-shell-worker.ts');
    try {
      await worker.answer();
      await worker.ask(say(1024 * 1024)); // what is loaded once does not count
      await pause(300);
      const before = residentBytes(worker.pid);
      let most = before;
      let isDone = false;
      const startedAt = performance.now();
      const done = worker
        .ask<{ characters: number; exitCode: number }>(say(OUTPUT_MB * 1024 * 1024))
        .finally(() => (isDone = true));
      while (!isDone) {
        most = Math.max(most, residentBytes(worker.pid));
        await pause(LOOK_MS);
      }
      const { characters, exitCode } = await done;
      if (exitCode !== 0) throw new Error(`the command ended with ${exitCode}`);
      notes.push(
        `${(characters / 1024 / 1024).toFixed(1)} MB reached the answer in ${Math.round(performance.now() - startedAt)} ms`,
      );
      extra.push((most - before) / 1024 / 1024);
    } finally {
      await worker.stop();
    }
  }
  return {
    name: 'memory of a talkative command',
    workload: `a command writes ${OUTPUT_MB} MB to stdout, streamed by the client; its largest resident memory less that before`,
    unit: 'MB',
    ours: extra,
    limit: { what: 'the most that is promised', values: extra.map(() => MOST_MB) },
    target: { atMost: 1 },
    notes,
  };
}
