import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentClient } from '@tandem/client';
import { nodeExecutors } from '@tandem/client/node';
import { startProvider } from '../test/support/provider.ts';
import type { Figure } from './figure.ts';
import { serve } from './process.ts';
import { scriptedConfig } from './scripted-config.ts';

const READS = 100;
const FILE_BYTES = 10 * 1024;
const SETTLE_MS = 1_500;

/** From a model's answer with 100 calls of Read until the model is told all of their results. */
export async function measureClientReads(repetitions: number): Promise<Figure> {
  const took: number[] = [];
  for (let i = -1; i < repetitions; i++) {
    const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'tandem-bench-')));
    for (let file = 0; file < READS; file++) {
      writeFileSync(join(workspace, `file-${file}.txt`), `${file} `.repeat(FILE_BYTES).slice(0, FILE_BYTES));
    }
    let askedAt = 0;
    let settledAt = 0;
    let results = 0;
    const provider = await startProvider({
      answers({ body }) {
        results = body.messages.filter(({ role }) => role === 'tool').length;
        if (results > 0) {
          settledAt = performance.now();
          return { text: 'read' };
        }
        askedAt = performance.now();
        const calls = Array.from({ length: READS }, (_, at) => ({ name: 'Read', args: { path: `file-${at}.txt` } }));
        return { calls };
      },
    });
    const served = await serve(scriptedConfig(provider.baseUrl));
    try {
      const client = new AgentClient({
        baseUrl: served.url,
        executors: nodeExecutors({
          workspace,
          permission: 'read-only',
          terminalsFolder: join(workspace, '.terminals'),
        }),
      });
      const run = client.run({ prompt: 'Read all of it.' });
      for await (const event of run)
        if (event.type === 'end' && event.outcome !== 'ended') throw new Error(event.outcome);
      if (results !== READS) throw new Error(`the model was told ${results} results, not ${READS}`);
      if (i >= 0) took.push(settledAt - askedAt);
    } finally {
      await Promise.all([served.stop(), provider.close()]);
      rmSync(workspace, { recursive: true, force: true });
    }
  }
  return {
    name: '100 parallel reads',
    workload: `one answer of the model calls Read ${READS} times, for files of 10 KB each; until its next request has all results. The server is a process of its own, the provider shares that of the client`,
    unit: 'ms',
    ours: took,
    limit: { what: 'the longest that is promised', values: took.map(() => SETTLE_MS) },
    target: { atMost: 1 },
  };
}
