// Generates packages/protocol/gen from packages/protocol/proto, offline.
//
//   npm run generate              writes gen/
//   npm run generate -- --check   fails when gen/ is not what proto/ gives
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mergeSchema } from './merge-schema.js';

const require = createRequire(import.meta.url);
const protocol = fileURLToPath(new URL('../packages/protocol', import.meta.url));
const committed = join(protocol, 'gen');

/** The file behind the command of an installed package. */
function commandFile(packageName, command) {
  const manifest = require.resolve(`${packageName}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
  return join(dirname(manifest), typeof bin === 'string' ? bin : bin[command]);
}

/** Runs buf with the local plugin; `out` is emptied first so that no file of a removed subject stays. */
function generateInto(out) {
  rmSync(out, { recursive: true, force: true });
  const template = {
    version: 'v2',
    plugins: [
      {
        local: [process.execPath, commandFile('@bufbuild/protoc-gen-es', 'protoc-gen-es')],
        out,
        opt: ['target=js+dts', 'import_extension=js'],
      },
    ],
  };
  // buf's own launcher asks for `node` by name: the one that runs this script must be found first.
  const PATH = dirname(process.execPath) + delimiter + (process.env.PATH ?? '');
  const buf = commandFile('@bufbuild/buf', 'buf');
  const runBuf = args =>
    execFileSync(process.execPath, [buf, ...args], {
      cwd: protocol,
      env: { ...process.env, PATH },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
  const work = mkdtempSync(join(tmpdir(), 'tandem-schema-'));
  try {
    const image = join(work, 'image.binpb');
    runBuf(['build', 'proto', '-o', image]);
    writeFileSync(image, mergeSchema(readFileSync(image)));
    runBuf(['generate', image, '--template', JSON.stringify(template)]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Relative path to text, of every file under a folder that may be missing. */
function readTree(root) {
  const files = new Map();
  let entries;
  try {
    entries = readdirSync(root, { recursive: true, withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT') return files;
    throw error;
  }
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    files.set(relative(root, file), readFileSync(file, 'utf8'));
  }
  return files;
}

/** One line for each file in which the two trees differ. */
function describeDrift(expected, actual) {
  const lines = [];
  for (const [file, text] of expected) {
    if (!actual.has(file)) lines.push(`missing   ${file}`);
    else if (actual.get(file) !== text) lines.push(`differs   ${file}`);
  }
  for (const file of actual.keys()) if (!expected.has(file)) lines.push(`left over ${file}`);
  return lines.sort();
}

if (process.argv.includes('--check')) {
  const out = mkdtempSync(join(tmpdir(), 'tandem-generate-'));
  try {
    generateInto(out);
    const drift = describeDrift(readTree(out), readTree(committed));
    if (drift.length > 0) {
      console.error('packages/protocol/gen is not what packages/protocol/proto gives: run `npm run generate`.');
      for (const line of drift) console.error(`  ${line}`);
      process.exitCode = 1;
    }
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
} else {
  generateInto(committed);
}
