import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => readFileSync(`${repository}${path}`, 'utf8');

it('[product-sdk-sample] the sample of the README says so when no server is there', async () => {
  const [, sample = ''] = /```ts\n([^]*?)```/.exec(read('README.md')) ?? [];
  expect(sample).toContain('http://127.0.0.1:7788');
  const child = spawn(
    process.execPath,
    ['--conditions=tandem-source', '--input-type=module', '--eval', sample.replace(':7788', ':65534')],
    { cwd: repository, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  let err = '';
  child.stderr.on('data', piece => (err += String(piece)));
  await once(child, 'close');
  expect(err).toMatch(/ECONNREFUSED.*not reached in 3 attempts/);
});

it('[product-sdk-sample] docs/sdk.md has every event of a run', () => {
  const source = read('packages/client/src/event.ts');
  const types = [...source.matchAll(/^ {2}type: '([a-z-]+)'/gm)].map(([, type = '']) => type);
  expect(types.length).toBeGreaterThan(20);
  const [, table = ''] = /^## Events\n([^]*?)^## /m.exec(read('docs/sdk.md')) ?? [];
  const rows = table.split('\n').map(line => line.split('|')[1] ?? '');
  for (const type of types) expect(rows.join(), type).toContain(`\`${type}\``);
});
