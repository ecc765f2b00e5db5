// Packs every package, installs the tarballs into an empty folder, and tries there what the README promises, on this Node and on the
// oldest one that `engines` allows.
//
//   node scripts/pack-test.js          through `npm run` or `npm exec`, so that npm runs on the pinned Node
//   node scripts/pack-test.js --keep   leaves the folder and says where it is
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** In the order of what they need of each other. */
const PACKAGES = ['protocol', 'server', 'client', 'cli'];
const OLDEST_NODE = '22.19.0';
/** One step may install from the registry; none takes longer unless something hangs. */
const STEP_MS = 180_000;

const repository = fileURLToPath(new URL('..', import.meta.url));
const work = realpathSync(mkdtempSync(join(tmpdir(), 'tandem-pack-')));
const folder = join(work, 'empty');
const home = join(work, 'home');
// what asks for `node` by name gets the one that runs this script; how npm was called for it is not how it calls npm
const { npm_config_offline: _, ...inherited } = process.env;
const env = { ...inherited, PATH: [dirname(process.execPath), inherited.PATH].join(':') };
// no key and no proxy of this machine has a part in what is tried
const bare = { PATH: env.PATH, HOME: home };

try {
  for (const path of [folder, home]) mkdirSync(path);
  const tarballs = PACKAGES.map(pack);
  await step('publint', () => lint(tarballs));
  await step('what is in the tarballs', () => tarballs.forEach(checkFiles));
  await step('install into an empty folder', () => install(tarballs));
  await step('types under node16 and bundler', checkTypes);
  await step('npx tandem', () =>
    expect(runNpm(['exec', '--no', 'tandem', '--', '--version'], folder), /^\d+\.\d+\.\d+$/m),
  );
  const oldest = await step(`fetch Node ${OLDEST_NODE}`, fetchOldest);
  for (const node of [process.execPath, oldest]) await tryOn(node);
  console.log('the packed packages work');
} finally {
  if (process.argv.includes('--keep')) console.log(`kept: ${work}`);
  else rmSync(work, { recursive: true, force: true });
}

/** Builds and packs one package; gives the path of its tarball. */
function pack(name) {
  const place = join(repository, 'packages', name);
  rmSync(join(place, 'dist'), { recursive: true, force: true });
  const begin = performance.now();
  // .npmrc keeps scripts of dependencies from running; the build of our own has to
  const flags = ['--json', '--silent', '--ignore-scripts=false', '--pack-destination', work];
  const [{ filename }] = JSON.parse(runNpm(['pack', ...flags], place));
  report(`pack ${name}`, begin);
  return { name, path: join(work, filename) };
}

async function lint(tarballs) {
  for (const { name, path } of tarballs) {
    const { messages, pkg } = await publint({
      pack: { tarball: new Uint8Array(readFileSync(path)).buffer },
      strict: true,
    });
    if (messages.length > 0)
      throw new Error(messages.map(message => `${name}: ${formatMessage(message, pkg)}`).join('\n'));
  }
}

/** A packed copy runs without type stripping, so it has what was built and no source. */
function checkFiles({ name, path }) {
  const files = run('tar', ['-tzf', path], work).split('\n').filter(Boolean);
  const stray = files.filter(file => /(?<!\.d)\.ts$|\.test\.|\.tsbuildinfo$|\.map$/.test(file));
  if (stray.length > 0) throw new Error(`${name} packs what it should not: ${stray.slice(0, 5).join(', ')}`);
  if (name === 'server' && !files.includes('package/prompts/agent.md')) throw new Error('server packs no prompts');
}

function install(tarballs) {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  writeFileSync(join(folder, 'tandem.json'), '{ "providers": { "demo": { "type": "demo" } } }\n');
  runNpm(['install', '--ignore-scripts', '--prefer-offline', ...tarballs.map(({ path }) => path)], folder);
}

/** The first block of TypeScript in the README. */
function readSnippet() {
  return /^```ts\n([^]*?)^```$/m.exec(readFileSync(join(repository, 'README.md'), 'utf8'))[1];
}

/** Our own declarations are checked too, so everything that they import has to resolve. */
function checkTypes() {
  const entries = PACKAGES.flatMap(name => {
    const { name: own, exports = {} } = JSON.parse(
      readFileSync(join(repository, 'packages', name, 'package.json'), 'utf8'),
    );
    return Object.keys(exports).map(entry => own + entry.slice(1));
  });
  writeFileSync(join(folder, 'snippet.mts'), readSnippet());
  writeFileSync(
    join(folder, 'entries.mts'),
    `${entries.map((entry, at) => `import * as entry${at} from '${entry}';`).join('\n')}\nexport { ${entries.map((_, at) => `entry${at}`).join(', ')} };\n`,
  );
  for (const [module, moduleResolution] of [
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ]) {
    run(
      join(repository, 'node_modules/.bin/tsc'),
      [
        ...[
          '--noEmit',
          '--strict',
          '--skipLibCheck',
          'true',
          '--target',
          'es2024',
          '--lib',
          'es2024,esnext,dom,dom.iterable,dom.asynciterable',
        ],
        ...['--module', module, '--moduleResolution', moduleResolution],
        ...['--types', 'node', '--typeRoots', join(repository, 'node_modules/@types')],
        ...['snippet.mts', 'entries.mts'],
      ],
      folder,
    );
  }
}

/** The path of the oldest Node that is promised, from its platform package. */
function fetchOldest() {
  const place = join(work, 'oldest');
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
  runNpm(['install', '--ignore-scripts', '--prefer-offline', `${name}@${OLDEST_NODE}`], place);
  return join(place, 'node_modules', name, 'bin/node');
}

async function tryOn(node) {
  const version = run(node, ['--version'], folder).trim();
  const tandem = join(folder, 'node_modules/tandem/bin/tandem.js');
  const own = { ...bare, PATH: [dirname(node), bare.PATH].join(':') };
  await step(`${version}: tandem --version`, () =>
    expect(run(node, [tandem, '--version'], folder, own), /^\d+\.\d+\.\d+$/m),
  );
  await step(`${version}: tandem run`, () =>
    expect(run(node, [tandem, 'run', 'What is in this folder?'], folder, own), /● Read package\.json[^]*demo model/),
  );
  await step(`${version}: the README's snippet against tandem serve`, async () => {
    const server = await serve(node, tandem, own);
    try {
      const file = join(folder, 'snippet.mjs');
      writeFileSync(file, readSnippet().replace('http://127.0.0.1:7788', server.url));
      expect(run(node, [file], folder, own), /demo model/);
    } finally {
      await server.stop();
    }
  });
}

/** A packed server on a free port; `stop` rejects unless it ends in order. */
async function serve(node, tandem, own) {
  const child = spawn(node, [tandem, 'serve', '--port', '0'], {
    cwd: folder,
    env: own,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise(resolve => child.on('close', resolve));
  const late = setTimeout(() => child.kill('SIGKILL'), STEP_MS);
  let out = '';
  const url = await new Promise((resolve, reject) => {
    child.stdout.on('data', piece => {
      out += String(piece);
      const found = /^tandem listening on (http:\S+)\n/.exec(out);
      if (found) resolve(found[1]);
    });
    void exited.then(code => reject(new Error(`tandem serve ended with ${code}: ${out}`)));
  });
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      const code = await exited;
      clearTimeout(late);
      if (code !== 0) throw new Error(`tandem serve ended with ${code} after SIGTERM`);
    },
  };
}

async function step(name, act) {
  const begin = performance.now();
  try {
    const result = await act();
    report(name, begin);
    return result;
  } catch (error) {
    console.log(`FAILED   ${name}`);
    throw error;
  }
}

function report(name, begin) {
  console.log(`ok       ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
}

function expect(text, pattern) {
  if (!pattern.test(text)) throw new Error(`expected ${pattern}, found:\n${text}`);
}

/** npm as a program of the Node that runs this script: a bare `npm` may belong to an older one. */
function runNpm(args, cwd) {
  const npm = process.env.npm_execpath;
  return npm ? run(process.execPath, [npm, ...args], cwd) : run('npm', args, cwd);
}

/** What a program wrote to stdout. Throws with all that it wrote when it fails or hangs. */
function run(file, args, cwd, own = env) {
  const { status, stdout, stderr, error } = spawnSync(file, args, {
    cwd,
    env: own,
    encoding: 'utf8',
    timeout: STEP_MS,
    input: '',
    maxBuffer: 2 ** 26,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}
