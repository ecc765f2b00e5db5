// Runs every check that is no test, one line each, and shows the output of those that fail.
//
//   npm run check                 all of them
//   npm run check -- lint types   only those whose name opens with one of the words
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('..', import.meta.url));
const bin = name => join(repository, 'node_modules/.bin', name);

/** Folders that have a tsconfig.json of their own. */
const projects = [
  ...readdirSync(join(repository, 'packages')).map(name => `packages/${name}`),
  'test',
  'test/browser',
  'bench',
  'interop',
].filter(folder => existsSync(join(repository, folder, 'tsconfig.json')));
/** The interop suite is checked against the types of what it installs for itself. */
const isReady = folder => folder !== 'interop' || existsSync(join(repository, 'interop/node_modules'));

const checks = [
  ...projects.map(folder => ({
    name: `types ${folder}`,
    command: [bin('tsc'), '--noEmit', '-p', folder],
    skipped: isReady(folder) ? undefined : 'npm ci --prefix interop was not run',
  })),
  { name: 'lint', command: [bin('oxlint')] },
  { name: 'format', command: [bin('oxfmt'), '--check'] },
  { name: 'unused', command: [bin('knip'), '--no-progress', '--treat-config-hints-as-errors'] },
  { name: 'generated', command: [process.execPath, 'scripts/generate.js', '--check'] },
];

// what asks for `node` by name gets the one that runs this script
const env = {
  ...process.env,
  PATH: [dirname(process.execPath), join(repository, 'node_modules/.bin'), process.env.PATH].join(':'),
  ...(!process.stdout.isTTY && { NO_COLOR: '1' }),
};
const words = process.argv.slice(2);
let failed = 0;
for (const { name, command, skipped } of checks) {
  if (words.length > 0 && !words.some(word => name.startsWith(word))) continue;
  if (skipped !== undefined) {
    console.log(`skipped  ${name}: ${skipped}`);
    continue;
  }
  const begin = performance.now();
  const [file, ...args] = command;
  const { status, stdout, stderr, error } = spawnSync(file, args, {
    cwd: repository,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const took = `${((performance.now() - begin) / 1000).toFixed(1)} s`;
  if (status === 0) {
    console.log(`ok       ${name} (${took})`);
    continue;
  }
  failed++;
  console.log(`FAILED   ${name} (${took})\n${error ? error.message : `${stdout}${stderr}`.trim()}\n`);
}
console.log(failed === 0 ? 'every check passed' : `${failed} checks failed`);
process.exitCode = failed === 0 ? 0 : 1;
