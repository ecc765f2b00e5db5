#!/usr/bin/env node
// Plain JavaScript that old versions of Node can read, so that they get a sentence and not a syntax error.
import fs from 'node:fs';
import module from 'node:module';

const LEAST = [22, 19];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1])) {
  process.stderr.write(
    'tandem needs Node ' +
      LEAST.join('.') +
      ' or newer, and this is Node ' +
      process.versions.node +
      ' (' +
      process.execPath +
      ').\n',
  );
  process.exit(2);
}
// older versions warn of what they call experimental; both parts are what this command relies on
const emitWarning = process.emitWarning;
process.emitWarning = function (warning, ...rest) {
  if (/^(?:SQLite|Type Stripping) is an experimental feature/.test(String(warning))) return;
  emitWarning.call(process, warning, ...rest);
};
// the second start of a version reads what the first one compiled
module.enableCompileCache();

// a clone has the source and runs it as it is; a packed copy has only what was built
const source = new URL('../src/main.ts', import.meta.url);
const isClone = fs.existsSync(source);
if (isClone && !process.execArgv.includes('--conditions=tandem-source')) {
  // started past `npm start`, as `npx tandem` does: the other packages have to come from their source too
  module.registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: ['tandem-source', ...context.conditions] }),
  });
}
const { main } = await import(isClone ? source.href : new URL('../dist/main.js', import.meta.url).href);
await main(process.argv.slice(2));
