import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../src/exit-code.ts';
import { makeProgram } from '../src/program.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => readFileSync(`${repository}${path}`, 'utf8');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly engines: { readonly node: string };
  readonly files: readonly string[];
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly man?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const names = ['protocol', 'server', 'client', 'cli'];
const manifests = names.map(name => JSON.parse(read(`packages/${name}/package.json`)) as Manifest);
const sisters: ReadonlyMap<string, string> = new Map(manifests.map(({ name, version }) => [name, version]));

describe.each(manifests)('the package $name', manifest => {
  it('[product-packaging] names its Node, and needs others in exact versions, its sisters in theirs', () => {
    expect(manifest.private).toBeUndefined();
    expect(manifest.engines).toEqual({ node: '>=22.19' });
    for (const [name, version] of Object.entries(manifest.dependencies ?? {})) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/);
      if (sisters.has(name)) expect(version, name).toBe(sisters.get(name));
    }
  });

  it('[product-packaging] packs what its entries name, and runs nothing at install', () => {
    const { exports = {}, bin = {}, man } = manifest;
    const entries = Object.values(exports).flatMap(({ types = '', default: main = '' }) => [types, main]);
    expect(entries.length + Object.keys(bin).length).toBeGreaterThan(0);
    for (const path of [...entries, ...Object.values(bin), ...(man ? [man] : [])]) {
      const [folder] = path.replace(/^\.\//, '').split('/');
      expect(manifest.files, path).toContain(folder);
    }
    const hooks = ['preinstall', 'install', 'postinstall', 'prepare'];
    expect(Object.keys(manifest.scripts ?? {}).filter(name => hooks.includes(name))).toEqual([]);
  });
});

it('[product-help] the README names every command', () => {
  const readme = read('README.md');
  for (const command of makeProgram(() => Promise.resolve()).commands)
    expect(readme).toMatch(new RegExp(`^\\| .*\`tandem ${command.name()}\\b`, 'm'));
});

describe('deploy', () => {
  const serve = makeProgram(() => Promise.resolve()).commands.find(command => command.name() === 'serve')!;
  const flags = serve.options.map(option => option.long);

  it('[product-deploy] the image starts the server as its own user, and is stopped so that runs end', () => {
    const dockerfile = read('deploy/Dockerfile');
    const [, args = ''] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? [];
    const [command, ...rest] = JSON.parse(args) as string[];
    expect(command).toBe('serve');
    expect(rest.filter(word => word.startsWith('--') && !flags.includes(word))).toEqual([]);
    expect(dockerfile).toMatch(/^ENTRYPOINT \["tandem"\]$/m);
    expect(dockerfile).toMatch(/^STOPSIGNAL SIGTERM$/m);
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toContain('/healthz');
    // in the order of what they need of each other, and all of them
    expect(dockerfile).toContain(`for name in ${names.join(' ')}; do`);
  });

  it('[product-deploy] the unit starts the server, and waits longer than a drain takes', () => {
    const unit = read('deploy/tandem.service');
    const [, line = ''] = /^ExecStart=\/usr\/bin\/env tandem (.*)$/m.exec(unit) ?? [];
    expect(line.split(' ')[0]).toBe('serve');
    expect((line.match(/--\S+/g) ?? []).filter(word => !flags.includes(word))).toEqual([]);
    const [, wait = ''] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    const [, drain = ''] = /end for up to (\d+) s/.exec(read('docs/operating.md')) ?? [];
    expect(Number(wait)).toBeGreaterThan(Number(drain));
    expect(Number(drain)).toBeGreaterThan(0);
    expect(unit).toMatch(/^KillSignal=SIGTERM$/m);
    expect(unit).toMatch(new RegExp(`^RestartPreventExitStatus=${EXIT.usage}$`, 'm'));
    expect(unit).not.toMatch(/^User=root$/m);
  });
});
