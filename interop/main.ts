// Runs the stock SDK, unmodified, against the server: npm run interop -- [--only name,name]
// TANDEM_INTEROP=PATH runs another suite instead: a run.sh, or the folder that holds one, with the server's command as argument.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Scenario } from './scenario.ts';
import { SERVER_COMMAND } from './server-process.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const other = process.env['TANDEM_INTEROP'];

if (other !== undefined && other !== '') process.exitCode = runOtherSuite(other);
else if (!existsSync(join(here, 'node_modules'))) {
  process.stderr.write('interop: the stock SDK is not installed; run "npm ci --prefix interop" first.\n');
  process.exitCode = 1;
} else {
  const { scenarios } = await import('./scenarios/index.ts');
  process.exitCode = await runOwnSuite(scenarios);
}

/** Hands over to a suite that starts the server by itself. Its exit code is ours. */
function runOtherSuite(path: string): number {
  const script = existsSync(path) && statSync(path).isDirectory() ? join(path, 'run.sh') : path;
  const command = ['npm', ...SERVER_COMMAND].join(' ');
  const { status, error } = spawnSync(script, [command, ...process.argv.slice(2)], {
    cwd: join(here, '..'),
    stdio: 'inherit',
  });
  if (error) process.stderr.write(`interop: ${script} could not be started: ${error.message}\n`);
  return status ?? 1;
}

/** One line a scenario, then `N passed, N failed`. */
async function runOwnSuite(scenarios: readonly Scenario[]): Promise<number> {
  const { perform } = await import('./perform.ts');
  const at = process.argv.indexOf('--only');
  const only = at < 0 ? scenarios.map(scenario => scenario.name) : (process.argv[at + 1] ?? '').split(',');
  const strangers = only.filter(name => !scenarios.some(scenario => scenario.name === name));
  if (strangers.length > 0) {
    process.stderr.write(`interop: no scenario is called ${strangers.join(', ')}\n`);
    return 2;
  }
  let failed = 0;
  for (const scenario of scenarios) {
    if (!only.includes(scenario.name)) continue;
    const begin = performance.now();
    const broken = await perform(scenario).then(
      () => undefined,
      (error: Error) => error.message,
    );
    const took = `${((performance.now() - begin) / 1000).toFixed(1)} s`;
    if (broken !== undefined) failed++;
    process.stdout.write(
      `${broken === undefined ? 'ok  ' : 'FAIL'} ${scenario.name} (${took})\n${broken === undefined ? '' : `${broken}\n`}`,
    );
  }
  process.stdout.write(`${only.length - failed} passed, ${failed} failed\n`);
  return failed > 0 ? 1 : 0;
}
