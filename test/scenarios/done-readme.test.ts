import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from '../citations.ts';
import { runLine } from '../support/command.ts';
import { startTestServer } from '../support/server.ts';

it('[done-readme-curl] the curl line of the README lists the models as printed, but for the port', async () => {
  const line = readFileSync(join(repository, 'README.md'), 'utf8')
    .split('\n')
    .find(one => one.startsWith('curl '));
  expect(line).toContain('http://127.0.0.1:7788');
  const server = await startTestServer();
  try {
    const { exitCode, stdout, stderr } = await runLine(line!.replace('http://127.0.0.1:7788', server.url));
    expect(exitCode, stderr).toBe(0);
    const { items } = JSON.parse(stdout) as { items: { id: string }[] };
    expect(items.map(({ id }) => id)).toContain('demo');
  } finally {
    await server.close();
  }
});
