import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeSurroundings } from '../test/surroundings.ts';
import { runCommandLine } from './command-line.ts';
import { EXAMPLES } from './examples.ts';

async function call(...argv: string[]) {
  const surroundings = makeSurroundings();
  const exitCode = await runCommandLine(argv, surroundings);
  return { exitCode, out: surroundings.stdout.text, err: surroundings.stderr.text };
}

it.each([
  [['run', 'x', '--no-such-flag'], /unknown option '--no-such-flag'/],
  [['run', 'x', '--modle', 'm'], /--modle[^]*Did you mean .*--model\?/],
  [['serv'], /unknown command 'serv'[^]*Did you mean serve\?/],
  [['chat', '--output', 'json'], /unknown option '--output'/],
  [['completion', 'tcsh'], /Allowed choices are bash, zsh, fish/],
  [['history', '--limit', '0'], /a number from 1 to 9999/],
  [['run', 'x', '--permission', 'sometimes'], /sometimes[^]*ask, auto, read-only/],
  [['run', 'x', '--output', 'xml'], /text, json, stream-json/],
  [['run', 'x', '--mode', 'debug'], /agent, ask, plan/],
  [['run', 'x', '--continue', '--resume', 'id'], /--continue.*--resume/],
  [['run', 'x', 'y'], /too many arguments/],
  [['serve', '--port', '65536'], /A port is a number from 0 to 65535/],
  [['serve', '--port', '1e3'], /A port is a number/],
  [['inspect'], /missing required argument 'file'/],
  [['inspect', 'x', '--as', 'pcap'], /sse, append, request/],
  [['help', 'serv'], /unknown command 'serv'[^]*Did you mean serve\?/],
  [['help', 'nope'], /unknown command 'nope'/],
])('[product-unknown-flag] refuses %j with a hint and exit code 2', async (argv, hint) => {
  const { exitCode, out, err } = await call(...argv);
  expect(err).toMatch(hint);
  // the help to look at is that of the command, once there is one
  const command = argv[0] === 'serv' || argv[0] === 'help' ? 'tandem' : `tandem ${argv[0]}`;
  expect(err).toMatch(/^tandem: /);
  expect(err.endsWith(`Run ${command} --help to see what there is.\n`)).toBe(true);
  expect([exitCode, out]).toEqual([2, '']);
});

it('prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect(await call('--version')).toEqual({ exitCode: 0, out: `${version}\n`, err: '' });
});

it('[product-help] lists what there is, and teaches by example', async () => {
  const { exitCode, out } = await call('--help');
  expect(exitCode).toBe(0);
  const [, list = ''] = /^Commands:\n([^]*?)^$/m.exec(out) ?? [];
  expect([...list.matchAll(/^ {2}([a-z]+) /gm)].map(match => match[1])).toEqual([
    ...['run', 'chat', 'serve', 'models', 'usage', 'history', 'show', 'inspect', 'doctor', 'completion', 'help'],
  ]);
  expect(out).toContain('\nExamples:\n  tandem run "What is in this folder?"\n');
  expect((await call('serve', '--help')).out).toContain('--tls-cert');
});

it('[product-help] prints the help of a command by either form, and its own without one', async () => {
  const help = await call('help', 'run');
  expect(help).toEqual(await call('run', '--help'));
  expect(help).toMatchObject({ exitCode: 0, err: '', out: expect.stringContaining('--permission <mode>') });
  expect(help.out).toContain('.tandem/permissions.json');
  expect(await call('help')).toEqual(await call('--help'));
});

it('shows the help and exit code 2 when it is told nothing', async () => {
  const { exitCode, err } = await call();
  expect(exitCode).toBe(2);
  expect(err).toContain('Usage: tandem');
});

it('[product-help] teaches every command by an example that is a command line it takes', async () => {
  for (const [name, examples] of Object.entries(EXAMPLES)) {
    expect(examples.length, name).toBeGreaterThan(0);
    const help = name === 'tandem' ? await call('--help') : await call(name, '--help');
    for (const { line, says } of examples) expect(help.out).toContain(`  ${line}\n      ${says}\n`);
    for (const [flag] of examples.flatMap(({ line }) => [...line.matchAll(/ --[a-z-]+/g)]))
      expect(help.out).toContain(flag.trim());
  }
});
